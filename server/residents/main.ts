/** The process of the residents. The relay starts it, and it ends with the relay: when their channel is closed. */
import '../../tools/lean_http.js';

const { House, COUNT_MS } = await import('./house.ts');
const { SavedFile } = await import('./saved.ts');
const { httpFetch } = await import('./http_fetch.ts');
const { sleep } = await import('../web/relay/transport.ts');

process.on('disconnect', () => process.exit(0));
if (!process.connected) process.exit(0); // the relay has ended meanwhile
// A terminal's Ctrl-C reaches this process, too; the relay decides when it ends.
process.on('SIGINT', () => {});

const { api, events, count, file } = JSON.parse(process.env.SPRITES_RESIDENTS as string);
const environment = { fetch: httpFetch, random: Math.random, sleep };
const now = () => performance.now();
const house = new House({ api, events, count, file: new SavedFile(file), environment, now });
await house.open();
const forever = new AbortController().signal;
while (await house.look()) await sleep(COUNT_MS, forever);
process.exit(0);
