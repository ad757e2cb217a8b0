/** Residents: the programs that a relay starts beside itself, as people meet them. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { RESIDENTS_FILE } from '../roles/residents_process.ts';
import { isResident } from '../wire/resident.ts';
import { EDGES } from '../wire/rules.ts';
import {
  type Batch,
  DesktopClient,
  type Event,
  join,
  look,
  poll,
  pollFor,
  type SayingEvent,
  sendRequest,
} from './desktop_client.ts';
import { BOUNDED, lastingPorts, type Ports, type RelayProcess, startRelay, until } from './relay_process.ts';

const THROWN = ['Ada', 'Bea', 'Cleo', 'Dot', 'Eve', 'Flo'];

describe('residents', BOUNDED, () => {
  let ports: Ports;
  let relay: RelayProcess;
  let person: DesktopClient;
  const data = mkdtempSync(joinPath(tmpdir(), 'sprites-residents-'));
  before(async () => {
    ports = await lastingPorts();
    relay = await startRelay({ workers: 0, residents: 2, ports, data });
    await until('they are here', async () => (await counts()).residents === 2);
    person = await DesktopClient.join(relay.url, { name: 'Ann' });
  });
  after(async () => {
    await person?.stop();
    await relay?.stop();
    rmSync(data, { recursive: true, force: true });
  });

  const counts = async () =>
    (await sendRequest(`${relay.url}/v1/worlds`)).json as { desktops: number; residents: number };

  const pids = () =>
    relay.log.filter(({ msg }) => msg === 'residents started').map(({ residentsPid }) => residentsPid as number);

  const names = () => person.received.map(({ sprite }) => sprite.name);

  const isRunning = (pid: number) => existsSync(`/proc/${pid}`);

  it('are named as what they are, and counted apart', async () => {
    await until('both are beside the person', () => {
      const { left, right, top, bottom } = person.neighbours ?? {};
      return [left, right, top, bottom].every((one) => isResident(one?.name ?? ''));
    });
    assert.equal((await relay.metrics()).get('sprites_residents'), 2);
    await until('everybody is counted', async () => (await counts()).desktops === 3);
    assert.equal((await counts()).residents, 2);
  });

  it('throw back what they catch', async () => {
    const outcome = await person.throw('right', 'Zoe');
    assert.ok(isResident(outcome?.to?.name ?? ''));
    await until('it is back', () => names().includes('Zoe'));
    assert.ok(isResident(person.received[0].from.name));
  });

  it('answer a person who is alone with them', async () => {
    const { desktop, token } = person.joined;
    const saying = { saying: 1, text: 'Hallo!' };
    await sendRequest(`${relay.url}/v1/desktops/${desktop}/sayings`, { method: 'POST', token, body: saying });
    const answers = () => person.sayings.filter(({ from }) => isResident(from.name));
    await until('one of them answers', () => answers().length > 0);
    assert.match(answers()[0].text, /^Hallo!/);
  });

  it('answer no people who talk to each other; the one that is called answers, in their language, and says what it is', async () => {
    const bob = await join(relay.url, { name: 'Bob' });
    const isBob = (one?: { name: string }) => one?.name === 'Bob';
    await until('all know that Bob is here', () => {
      const { left, right, top, bottom } = person.neighbours ?? {};
      return [left, right, top, bottom].some(isBob);
    });
    let { cursor } = bob;
    const heard: string[] = [];
    const listen = async () => {
      const { json } = await poll(bob, cursor);
      const batch = json as Batch;
      cursor = batch.cursor;
      const sayings = batch.events.filter((event): event is SayingEvent => event.type === 'saying');
      heard.push(...sayings.filter(({ from }) => isResident(from.name)).map(({ text }) => text));
    };
    const say = async (saying: number, text: string) => {
      const { desktop, token } = bob;
      const url = `${relay.url}/v1/desktops/${desktop}/sayings`;
      assert.equal((await sendRequest(url, { method: 'POST', token, body: { saying, text } })).status, 202);
    };
    await say(1, 'Nice to see you, Ann!');
    // Three answers, each after a pause, take longer than the one that must not come.
    for (const [saying, text, answer] of [
      [2, 'Moss, are you a person?', /program/],
      [3, 'Juniper, bist du ein Mensch?', /Programm/],
      [4, 'Thank you, Moss', /./],
    ] as const) {
      const before = heard.length;
      await say(saying, text);
      while (heard.length === before) await listen();
      assert.match(heard.at(-1) as string, answer);
      assert.equal(heard.length, before + 1, 'one of them answers');
    }
    await sendRequest(`${relay.url}/v1/desktops/${bob.desktop}`, { method: 'DELETE', token: bob.token });
  });

  it('wave at a person who looks over an edge at them', async () => {
    const bob = await join(relay.url, { name: 'Bob' });
    const { token, crossings, cursor } = bob;
    const { neighbours } = await look(bob);
    const edge = EDGES.find((one) => isResident(neighbours[one]?.name ?? ''));
    const peek = crossings.replace(/crossings$/, 'peeks');
    assert.equal((await sendRequest(peek, { method: 'POST', token, body: { edge } })).status, 202);
    const waves = (event: Event) =>
      event.type === 'stage' && isResident(event.from?.name ?? '') && event.sprites[0]?.animation === 'wave';
    await pollFor(bob, cursor, waves);
    await sendRequest(`${relay.url}/v1/desktops/${bob.desktop}`, { method: 'DELETE', token });
  });

  it('lose no sprite when they are killed, and are here again', async () => {
    await Promise.all(THROWN.map((name) => person.throw('right', name)));
    relay.kill(pids().at(-1) as number, 'SIGKILL');
    await until('they are started again', () => pids().length === 2);
    await until('each sprite is back', () => THROWN.every((name) => names().includes(name)));
    assert.deepEqual(names().sort(), [...THROWN, 'Zoe'].sort(), 'each of them once');
  });

  it('make room for more than eight people, and come back when they are gone', async () => {
    const people = await Promise.all(
      Array.from({ length: 8 }, (_, i) => DesktopClient.join(relay.url, { name: `P${i}` })),
    );
    await until('they have left', async () => (await counts()).residents === 0);
    await Promise.all(people.map((one) => one.leave()));
    await until('they are back', async () => (await counts()).residents === 2);
  });

  it('end with the relay; the next one, without residents, gives back what they had', async () => {
    await person.throw('right', 'Mia');
    await until('a resident has it', () => readFileSync(joinPath(data, RESIDENTS_FILE), 'utf8').includes('"Mia"'));
    const last = pids().at(-1) as number;
    relay.kill(relay.pids.master, 'SIGKILL');
    await until('they have ended', () => !isRunning(last));
    relay = await startRelay({ workers: 0, residents: 0, ports, data });
    await until('it is back', () => names().includes('Mia'));
    await until('nobody is left', () => !existsSync(joinPath(data, RESIDENTS_FILE)));
    await until('the process has ended', () => !isRunning(pids().at(-1) as number));
    assert.equal(names().filter((name) => name === 'Mia').length, 1);
  });
});
