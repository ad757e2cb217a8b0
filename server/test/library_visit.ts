/** A short life as a desktop with the JavaScript library: joins, throws, polls until the neighbour has thrown back, leaves. */
import assert from 'node:assert/strict';
import { DesktopClient, FILE } from './desktop_client.ts';
import { until } from './relay_process.ts';

/** An expression in JavaScript, a promise of what became of its throw, and what came. `module` is the library, for `import`. */
export const visitOf = (module: string, relay: string, world: string) => `(async () => {
  const { join } = await import(${JSON.stringify(module)});
  const come = Promise.withResolvers();
  const wish = { name: 'Visitor', world: ${JSON.stringify(world)}, on: { sprite: come.resolve } };
  const desktop = await join(${JSON.stringify(relay)}, wish);
  const { to } = await desktop.throw({ file: ${JSON.stringify(FILE)}, name: 'Blob' }, 'right');
  const { sprite, from } = await come.promise;
  await desktop.leave();
  await desktop.ended;
  return [to.name, sprite.name, from.name];
})()`;

/** Is the visitor's neighbour, who throws back. `visit` runs the expression. */
export async function meetVisitor(relay: string, world: string, visit: () => Promise<unknown>): Promise<void> {
  const ann = await DesktopClient.join(relay, { name: 'Ann', world });
  try {
    const visited = visit();
    await Promise.race([until('its sprite is here', () => ann.received.length > 0), visited]);
    const [{ sprite, from }] = ann.received;
    assert.deepEqual([sprite.name, from.name, sprite.journey?.from], ['Blob', 'Visitor', ['Visitor']]);
    await ann.throw('left', 'Nova');
    assert.deepEqual(await visited, ['Ann', 'Nova', 'Ann']);
  } finally {
    await ann.leave();
  }
}
