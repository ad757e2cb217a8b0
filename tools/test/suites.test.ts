/** On the project itself: what its suites depend on. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { listFiles } from './sources.ts';
import { isQuiet, needsNoBuild, Suites, takesLong } from './suites.ts';

const SUITES = new Suites();
const buildsOf = (suite: string) => SUITES.buildsOf(suite).map(({ what }) => what);

describe('suites', () => {
  it('depend on what they import, also through others', () => {
    assert.ok(SUITES.dependsOn('server/domain/state/torus.test.ts', ['server/domain/state/torus.ts']));
    assert.ok(SUITES.dependsOn('server/domain/relay.test.ts', ['server/wire/crossing.ts']));
    assert.ok(!SUITES.dependsOn('server/domain/state/torus.test.ts', ['server/web/relay/poll.ts', 'ec2/fleet.ts']));
  });

  it('depend on the programs, pages and documents that they name', () => {
    assert.ok(SUITES.dependsOn('server/test/kill.test.ts', ['server/roles/primary.ts']), 'a relay in its own process');
    assert.ok(
      SUITES.dependsOn('server/test/browser_visit.test.ts', ['server/web/desktop/index.html']),
      'a page of a relay',
    );
    assert.ok(SUITES.dependsOn('server/test/openapi.test.ts', ['server/openapi.yaml']), 'a document');
    assert.ok(SUITES.dependsOn('client-win/test/moves.test.ts', ['client-win/moves.vectors.json']), 'vectors');
  });

  it('depend on the sources of what is built for them', () => {
    assert.ok(SUITES.dependsOn('server/test/sockets.test.ts', ['server/native/io/connection.cc']));
    assert.ok(SUITES.dependsOn('client-win/test/core.test.ts', ['client-win/core/motion/simulation.cc']));
    assert.ok(SUITES.dependsOn('client-win/test/core.test.ts', ['client-win/behaviour.vectors.json']));
    assert.ok(!SUITES.dependsOn('client-win/test/core.test.ts', ['client-win/win32/system/tray.cc']));
  });

  it('depend on a file that is gone when they name it, or a folder around it, or are beside it', () => {
    const gone = ['client-win/moves.vectors.json'];
    const without = new Suites(listFiles().filter((file) => !gone.includes(file)));
    assert.ok(without.dependsOn('client-win/test/moves.test.ts', gone), 'it names it');
    assert.ok(!without.dependsOn('server/domain/state/torus.test.ts', gone));
    assert.ok(SUITES.dependsOn('server/test/browser_visit.test.ts', ['server/web/gone.html']), 'a page of a relay');
    assert.ok(SUITES.dependsOn('server/domain/state/torus.test.ts', ['server/domain/state/gone.ts']), 'in its folder');
    assert.ok(!SUITES.dependsOn('server/domain/state/torus.test.ts', ['server/web/gone.ts']));
  });

  it('are refused by name where only long ones run', () => {
    const args = ['tools/test/test.ts', '--long', 'tools/test/suites.test.ts'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
    assert.equal(status, 2);
    assert.match(
      stderr,
      /No long suite matches tools\/test\/suites\.test\.ts.*npm test -- tools\/test\/suites\.test\.ts/,
    );
  });

  it('depend on the packages, all of them', () => {
    for (const suite of SUITES.list()) assert.ok(SUITES.dependsOn(suite, ['package-lock.json']), suite);
  });

  it('need only the builds that they use', () => {
    assert.deepEqual(buildsOf('server/wire/frame.test.ts'), []);
    assert.deepEqual(buildsOf('tools/test/suites.test.ts'), [], 'it imports the table of all builds');
    assert.deepEqual(buildsOf('server/test/kill.test.ts'), ['native front']);
    assert.ok(buildsOf('loadtest/engine/engine.test.ts').includes('swarm engine'));
    assert.ok(buildsOf('client-win/test/wine.test.ts').includes('program for Windows'));
    assert.ok(buildsOf('client-win/test/x11_desktop.test.ts').includes('program for X11'));
    assert.ok(buildsOf('client-win/test/core.test.ts').includes('desktop client'));
  });

  it('need no build when their header says so, with the reason', () => {
    assert.deepEqual(buildsOf('tools/command.test.ts'), [], 'it imports every command');
    assert.deepEqual(buildsOf('tools/imports.test.ts'), [], 'it names files of every part');
    assert.ok(needsNoBuild('/**\n * On commands.\n *\n * Needs no build: it starts none of them.\n */\n'));
    assert.ok(!needsNoBuild('/**\n * On commands.\n *\n * Needs no build:\n */\n'));
    assert.ok(!needsNoBuild("/** On commands. */\nit('Needs no build: never', () => {});\n"));
  });

  it('take long when their header says so, with what takes long', () => {
    assert.ok(takesLong('/**\n * On peers.\n *\n * Takes long: it runs ten thousand histories.\n */\n'));
    assert.ok(!takesLong('/**\n * On peers.\n *\n * Takes long:\n */\n'));
    assert.ok(!takesLong("/** On peers. */\nit('Takes long: never', () => {});\n"));
  });

  it('run alone when their header says so, with the reason', () => {
    assert.ok(isQuiet('/**\n * On pauses.\n *\n * Runs alone: it counts page faults of the machine.\n */\n'));
    assert.ok(!isQuiet('/**\n * On pauses.\n *\n * Runs alone:\n */\n'));
    assert.ok(!isQuiet("/** On pauses. */\nit('Runs alone: never', () => {});\n"));
  });
});
