/** The builds of `npm run bench -- outside`. A build that is impossible returns the reason, as those of tools/build.js do. */
import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { built, ran } from '../../tools/build.js';
import { ensurePrograms, installHint } from '../../tools/machine.js';

const BUILD = join(import.meta.dirname, '../../build');

/** The path of the posters once they are built. */
export const POSTERS = join(BUILD, 'posters', 'posters');

/** The path of the relay on uWebSockets that the bench compares with, once it is built. */
export const UWS = join(BUILD, 'uws', 'uws');

/** Builds the posters. Returns undefined, or why they can't be built. */
export function buildPosters(): string | undefined {
  const source = join(import.meta.dirname, 'posters', 'posters.cc');
  return built('posters', [source], POSTERS, () => {
    const words = ['-std=c++20', '-O2', '-Wall', '-Wextra', '-o', POSTERS, source];
    return whyNoCompiler(['g++']) ?? ran('g++', words, folderOf(POSTERS), 'g++');
  });
}

/**
 * Builds the relay on uWebSockets from a checkout with its submodule uSockets, with the optimisation that its own Makefile uses.
 * Returns undefined, or why it can't be built.
 */
export function buildUws(checkout: string): string | undefined {
  const source = join(import.meta.dirname, 'uws', 'uws.cc');
  const sockets = join(checkout, 'uSockets', 'src');
  if (!existsSync(join(checkout, 'src', 'App.h')) || !existsSync(join(sockets, 'libusockets.h'))) {
    return `${checkout} is not a checkout of uWebSockets with its submodule uSockets`;
  }
  return built('uws', [source, join(checkout, 'src'), sockets], UWS, () => {
    const folder = folderOf(UWS);
    // No TLS and no compression: neither the bench nor the floor has them.
    const flags = ['-O3', '-flto', '-DLIBUS_NO_SSL', '-DUWS_NO_ZLIB', `-I${sockets}`];
    const sources = ['bsd', 'context', 'loop', 'socket', 'udp', 'eventing/epoll_kqueue'];
    const files = sources.map((file) => join(sockets, `${file}.c`));
    const objects = sources.map((file) => `${basename(file)}.o`);
    const linking = ['-std=c++20', ...flags, `-I${join(checkout, 'src')}`, '-o', UWS, source, ...objects];
    return (
      whyNoCompiler(['gcc', 'g++']) ??
      ran('cc', [...flags, '-c', ...files], folder, 'cc') ??
      ran('g++', linking, folder, 'g++')
    );
  });
}

function whyNoCompiler(compilers: readonly string[]): string | undefined {
  return ensurePrograms(compilers, compilers) ? undefined : `a compiler is missing: ${installHint(compilers)}`;
}

/** The folder of a target, made if it is not there. */
function folderOf(target: string): string {
  const folder = join(target, '..');
  mkdirSync(folder, { recursive: true });
  return folder;
}
