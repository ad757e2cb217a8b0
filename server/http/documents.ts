/** Documents in Markdown, as parts of pages. */
import { Marked } from 'marked';

/** A link that leads somewhere from a page. The documents also link to files of the project, which the site does not have. */
const FROM_A_PAGE = /^(?:https?:|mailto:|\/)/;

const markdown = new Marked({
  renderer: {
    link({ href, tokens }) {
      return FROM_A_PAGE.test(href) ? false : this.parser.parseInline(tokens);
    },
  },
});

/** Puts a document into the article of a page. */
export function withDocument(page: string, document: string): string {
  const html = markdown.parse(document, { async: false });
  return page.replace(/<article\b[^>]*>/, (opened) => opened + html);
}
