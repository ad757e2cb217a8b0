// A resident of one's own: it keeps what it catches for some seconds, says thank you, and throws it back.
//
//     node resident.mjs http://localhost:8080          or your invitation: it sits beside you, in a private world too
import { join } from 'sprites-client';

const { origin, hash } = new URL(process.argv[2] ?? 'http://localhost:8080');
const KEEP_MS = 4_000;
const RETRY_MS = 3_000;
const invite = ({ invitation }) => console.log(`Otto is here. Sit beside him: ${origin}/#near=${invitation}`);
const caught = new Map(); // by the number of the event that brought it

const desktop = await join(origin, {
  name: 'Otto (resident)',
  near: new URLSearchParams(hash.slice(1)).get('near') ?? undefined,
  on: {
    sprite(arrival) {
      caught.set(arrival.seq, arrival);
      setTimeout(throwBack, KEEP_MS, arrival.seq);
      return desktop.say(`Thank you for ${arrival.sprite.name || 'the sprite'}, ${arrival.from.name || 'stranger'}!`);
    },
    // The relay has passed it on, while it did not hear from us.
    lost: ({ seq }) => caught.delete(seq),
    seated: invite, // after a time without the relay
    saying({ from, text }) {
      if (from.desktop !== desktop.desktop && /\botto\b/i.test(text)) return desktop.say('That is me!');
    },
  },
});
invite(desktop);

async function throwBack(seq) {
  const arrival = caught.get(seq);
  if (!caught.delete(seq)) return;
  const { refused } = await desktop.throw(arrival.sprite, arrival.edge);
  if (refused === undefined) return;
  caught.set(seq, arrival);
  setTimeout(throwBack, RETRY_MS, seq);
}
