/** What holds for every problem document, whichever part of the relay sends it. */
import assert from 'node:assert/strict';
import { PROBLEMS, type ProblemCode, type ProblemDocument } from '../wire/problem.ts';
import type { HttpResponse } from './desktop_client.ts';

/** Asserts that a response is this problem. Returns the document. */
export function isProblem(answer: HttpResponse, code: ProblemCode, field?: string): ProblemDocument {
  const { status, title, retryAfterSeconds } = PROBLEMS[code];
  const document = answer.json as ProblemDocument;
  assert.equal(answer.status, status, `status ${answer.status}, body ${answer.body}`);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  // The API allows every origin (api.test.ts), the admin port none (admin.test.ts).
  assert.ok(['*', undefined].includes(answer.headers['access-control-allow-origin'] as string | undefined));
  assert.equal(answer.headers['retry-after'], retryAfterSeconds > 0 ? String(retryAfterSeconds) : undefined);
  assert.equal(answer.headers['access-control-expose-headers'], retryAfterSeconds > 0 ? 'Retry-After' : undefined);
  assert.equal(answer.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
  isProblemDocument(document, code, field);
  assert.equal(document.title, title);
  return document;
}

/** The same for a document that is not the body of a response, such as one on a socket. */
export function isProblemDocument(document: ProblemDocument, code: ProblemCode, field?: string): void {
  assert.equal(document.code, code, `not ${code}: ${JSON.stringify(document)}`);
  assert.equal(document.status, PROBLEMS[code].status);
  assert.equal(document.type, `/protocol#${code}`);
  assert.match(document.detail, /^.{10,}\.$/, 'the detail is a sentence');
  assert.equal(document.field, field, document.detail);
}
