/**
 * The program of a page: one file with what it needs at once, and files for what it loads when a person asks for that.
 *
 * The sources are TypeScript modules. esbuild joins, shortens and splits them in a process of its own, when the page is asked for
 * first: some 0.1 s, in which the relay goes on. On a line with a long way, each file costs a visitor a part of a second.
 */
import { join, relative } from 'node:path';
import { VERSION } from '../../tools/version.js';

const SERVER = join(import.meta.dirname, '..');

/** Browsers of the last three years. */
const TARGET = 'es2022';

/** The pages that are being made: esbuild's process ends with the last one. */
let running = 0;

export interface PageProgram {
  /** The URLs of the files that this one imports at once. */
  readonly imports: readonly string[];
  /** All files by URL, with maps back to the sources. */
  readonly files: ReadonlyMap<string, string>;
  /** The texts of its sources. */
  readonly sources: readonly string[];
}

/**
 * Makes the program of a page.
 *
 * Units   name: that of the page, with which the names of its files begin. url: the folder of the files, like `/web/`. entry: the path
 * of its first module below server/. modules: the sources that it may use, by such paths; they are not read again, so all pages of a
 * process are of one version.
 * Errors  Error of esbuild, when a module imports what does not exist, or when esbuild is not made for this machine.
 */
export async function pageProgram(
  { name, url, entry }: { name: string; url: string; entry: string },
  modules: ReadonlyMap<string, string>,
): Promise<PageProgram> {
  const { build, stop } = await import('esbuild'); // with the first page: many relays and workers serve none
  running++;
  try {
    const { metafile, outputFiles } = await build({
      absWorkingDir: SERVER,
      entryPoints: { [name]: entry },
      outdir: '.',
      chunkNames: `${name}-[name]-[hash]`,
      bundle: true,
      splitting: true,
      minify: true,
      write: false,
      metafile: true,
      sourcemap: 'linked',
      format: 'esm',
      target: TARGET,
      define: { PAGE_VERSION: JSON.stringify(VERSION) }, // what the page says when it joins
      charset: 'utf8',
      logLevel: 'silent',
      plugins: [
        {
          name: 'sources of one version',
          setup: ({ onLoad }) => {
            onLoad({ filter: /\.ts$/ }, ({ path }) => {
              const contents = modules.get(relative(SERVER, path));
              if (contents === undefined) throw new Error('Pages use the modules of server/web and server/wire only.');
              return { contents, loader: 'ts' };
            });
          },
        },
      ],
    });
    const first = metafile.outputs[`${name}.js`];
    return {
      imports: (first?.imports ?? [])
        .filter(({ kind }) => kind === 'import-statement')
        .map(({ path }) => `${url}${path}`),
      files: new Map(outputFiles.map(({ path, text }) => [`${url}${relative(SERVER, path)}`, text])),
      sources: Object.keys(metafile.inputs).map((path) => modules.get(path) ?? ''),
    };
  } finally {
    running--;
    if (running === 0) await stop();
  }
}
