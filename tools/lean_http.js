/**
 * Takes three names from node:http that this project does not use: WebSocket, CloseEvent and MessageEvent. The global ones stay.
 *
 * Node makes them of undici, which it loads when it reads them; and it reads all names of node:http when the first module that imports it is
 * found. Undici takes 45 ms of each process, and 16 MB. The modules of a program are found before any of them runs, so this one must have run
 * earlier: import the others with import(), or name it with `--import`.
 */
const http = process.getBuiltinModule('node:http');
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent']) delete http[name];
