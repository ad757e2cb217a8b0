import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flagOf, helpOf, Misused, readCommandLine } from '../../tools/command.ts';
import { ENGINE_PLAN } from '../../tools/engine_plan.ts';
import { type FleetRecord, recorded } from '../fleet.ts';
import { enginePlanOf } from '../job.ts';
import { changedRecord } from './changes.ts';
import { COMMAND, FLAGS, type Options, optionsOf } from './options.ts';

const ENVIRONMENT = { AWS_REGION: 'eu-west-1', SPRITES_BUCKET: 'sprites-ann' };
const FLEET = 'swarm-261121-0412-7f3a';
const URL_FLAG = ['--url', 'http://relay.example:8080/'];
const HELP = helpOf(COMMAND);

function readOptions(words: readonly string[], environment: NodeJS.ProcessEnv): Options | 'help' {
  const line = readCommandLine(COMMAND, words, environment);
  return line === 'help' ? line : optionsOf(line, environment);
}

const read = (...words: string[]) => readOptions(words, ENVIRONMENT) as Options;

/** The message with which these words are rejected. */
function refusal(...words: string[]): string {
  try {
    read(...words);
  } catch (error) {
    assert.ok(error instanceof Misused, `${error}`);
    return error.message;
  }
  return '';
}

describe('fleet options', () => {
  it('are all in --help, with the defaults that are used', () => {
    for (const command of Object.keys(COMMAND.commands ?? {})) assert.match(HELP, new RegExp(`^  ${command} `, 'm'));
    for (const name of Object.keys(FLAGS)) assert.match(HELP, new RegExp(`^ +--${flagOf(name)}\\b`, 'm'));
    const { wanted, load, bootOptions } = read('run', ...URL_FLAG);
    assert.equal(
      `${load?.desktops} ${load?.rate} ${load?.seconds}`,
      `${FLAGS.desktops.shown} ${FLAGS.rate.shown} ${FLAGS.seconds.shown}`,
    );
    assert.equal(
      `${wanted.instances} ${wanted.minutes} ${wanted.maxCostUsd}`,
      `${FLAGS.instances.shown} ${FLAGS.minutes.shown} ${FLAGS.maxCost.shown}`,
    );
    assert.equal(`${wanted.buy} ${bootOptions.readySeconds}`, `${FLAGS.buy.shown} ${FLAGS.readyWithin.shown}`);
    assert.equal(wanted.atLeast, wanted.instances);
    assert.ok(HELP.split('\n').every((line) => line.length <= 140));
  });

  it('are the help with --help, and a misuse that shows it without a command', () => {
    assert.equal(readOptions(['up', '--help'], ENVIRONMENT), 'help');
    assert.equal(refusal(), HELP);
  });

  it('take options of the swarm after --, those that an engine can be told', () => {
    assert.deepEqual(read('run', ...URL_FLAG, '--', '--sprite-bytes', '400').load?.more, { spriteBytes: 400 });
    const mixed = read(
      'run',
      ...URL_FLAG,
      '--desktops',
      '200',
      '--',
      '--mix',
      'throwing=50,talking=30,peeking=20',
    ).load;
    assert.ok(mixed);
    const { mix } = enginePlanOf({ ...mixed, relays: [new URL('http://relay.example')] }, 'f', 'i');
    assert.deepEqual([mix.throwing, mix.talking, mix.peeking, mix.sitting], [100, 60, 40, 0]);
    assert.throws(() => read('run', ...URL_FLAG, '--', '--mix', 'talking=1'), /--mix has no desktop that throws/);
    assert.match(refusal('run', ...URL_FLAG, '--', '--isolate'), /Unknown option '--isolate'/);
    assert.notEqual(refusal('run', ...URL_FLAG, '--', '$(reboot)'), '');
  });

  it('say which one is wrong, and what it must be', () => {
    assert.match(refusal('fly'), /There is no command "fly"/);
    assert.match(refusal('up', '--wings', '2'), /--wings/);
    assert.match(refusal('up'), /--url: say which relay/);
    assert.match(refusal('up', '--url', 'ftp://relay.example/'), /--url: must be an http or https URL/);
    assert.equal(read('plan', '--url', 'https://relay.example/').load?.relays[0].protocol, 'https:');
    const several = ['--url', 'http://a.example:8080/,http://b.example:8080/'];
    const { load, wanted } = read('plan', ...several);
    assert.deepEqual([load?.relays.length, wanted.load?.relay], [2, several[1]]);
    assert.match(refusal('user-data', ...several), /instances from the console do not know of each other/);
    assert.match(refusal('run', ...several, '--', '--mix', 'throwing=1,talking=1'), /--mix: what is heard on another/);
    assert.match(
      refusal('up', ...URL_FLAG, '--instances', '0'),
      /--instances: must be a whole number from 1 to 200, not "0"/,
    );
    assert.match(refusal('up', ...URL_FLAG, '--instances', '2.5'), /--instances: must be a whole number/);
    assert.match(refusal('up', ...URL_FLAG, '--at-least', '3'), /--at-least: must be a whole number from 1 to 2 /);
    assert.match(refusal('up', ...URL_FLAG, '--buy', 'cheap'), /--buy: must be one of on-demand, spot, fleet/);
    assert.match(refusal('up', ...URL_FLAG, '--rate', '-5'), /^--rate: must be a number from 0 to .*, not "-5"\.$/);
    assert.match(
      refusal('up', ...URL_FLAG, '--desktops', '99999999'),
      /--desktops: must be a whole number from 1 to 600000/,
    );
    assert.match(
      refusal('up', ...URL_FLAG, '--max-cost', '0.00000001'),
      /^--max-cost: must be a number from 0 to 100000 with at most 4 decimals, not "0\.00000001"\.$/,
    );
    assert.match(refusal('up', ...URL_FLAG, '--type', 'c6i'), /--type: must be an instance type/);
    assert.match(refusal('up', ...URL_FLAG, '--bucket', 'mine'), /--bucket: must be sprites-…/);
    assert.throws(
      () => readOptions(['up', ...URL_FLAG], { AWS_REGION: 'eu-central-1' }),
      /--bucket: say which, or set/,
    );
    assert.match(refusal('up', ...URL_FLAG, '--image', '12'), /--image: must be an id/);
    assert.match(
      refusal('up', ...URL_FLAG, '--minutes', '1', '--seconds', '90'),
      /--minutes: must be at least 2, which the load takes, not "1"/,
    );
    assert.match(refusal('up', '--relay'), /--allow: must be an address block/);
    assert.match(refusal('up', '--relay', '--allow', '10.0.0.0/8,'), /--allow: must be an address block/);
    const { allow } = read('up', '--relay', '--allow', '203.0.113.7/32,172.31.0.0/16').bootOptions;
    assert.deepEqual(allow, ['203.0.113.7/32', '172.31.0.0/16']);
    assert.match(refusal('run', '--relay'), /a relay does not run a load/);
    assert.match(refusal('down'), /--fleet: say which fleet, or --all/);
    assert.match(refusal('down', '--fleet', '*'), /--fleet: must be a name/);
    assert.match(refusal('collect'), /--fleet: say which/);
    assert.throws(() => readOptions(['status'], {}), /--region: say which/);
  });

  it('make a cluster of relays and NATS, of which up and run know, with nothing that a cluster decides itself', () => {
    const allow = ['--allow', '10.0.0.0/8'];
    for (const command of ['plan', 'up', 'run'] as const) {
      const { wanted, load } = read(command, '--relays', '3', ...allow);
      assert.deepEqual([wanted.role, wanted.relays, wanted.instances, wanted.atLeast], ['relay', 3, 4, 4]);
      assert.equal(load, undefined);
    }
    assert.match(refusal('up', '--relays', '1', ...allow), /--relays: must be a whole number from 2 to 199/);
    assert.match(refusal('up', '--relays', '3'), /--allow: must be an address block/);
    for (const decided of [['--relay'], ['--instances', '4'], ['--at-least', '2'], URL_FLAG]) {
      assert.match(refusal('up', '--relays', '3', ...allow, ...decided), /--relays decides it: leave one of them out/);
    }
    assert.match(refusal('user-data', '--relays', '3', ...allow), /have no address of NATS yet/);
  });

  it('reject a relay on the loopback, which instances can’t reach', () => {
    const local = ['localhost:8080', 'relay.localhost', '127.0.0.1:8080', '127.1', '0.0.0.0', '[::1]:8080', '[::]'];
    for (const host of local) {
      for (const command of ['plan', 'up', 'run', 'user-data']) {
        assert.match(refusal(command, '--url', `http://${host}/`), /^--url: instances can't reach .*EC2 can reach\.$/);
      }
    }
    assert.ok(read('plan', '--url', 'http://10.0.0.5:8080/').load);
    assert.ok(read('plan', '--url', 'http://localhost.example/').load);
  });

  it('that a command does not use are rejected, never ignored', () => {
    assert.match(refusal('status', '--rate', '5'), /^--rate: goes with plan, up, run, user-data, not with status\./);
    assert.match(refusal('down', '--all', '--out', 'x'), /^--out: goes with run, collect, not with down\./);
    assert.match(refusal('up', ...URL_FLAG, '--fleet', FLEET), /^--fleet: goes with run, .*not with up\./);
    assert.match(
      refusal('status', '--', '--sprite-bytes', '400'),
      /^--sprite-bytes: options of the swarm go with plan/,
    );
  });

  it('change the load of a fleet that is booted, and nothing else of it', () => {
    const load = ['--desktops', '500', '--rate', '7', '--seconds', '9', '--warm-up', '1', '--connect-rate', '50'];
    const { changes } = read('run', '--fleet', FLEET, ...load, '--ready-within', '60', '--', '--sprite-bytes', '400');
    assert.deepEqual(changes, {
      ...{ desktops: 500, rate: 7, seconds: 9, warmUpSeconds: 1, connectRate: 50, readySeconds: 60 },
      more: { spriteBytes: 400 },
    });
    assert.deepEqual(read('run', '--fleet', FLEET).changes, {});
    for (const fixed of [['--instances', '3'], ['--type', 'c6i.large'], ['--minutes', '9'], ['--dry-run'], ['--yes']]) {
      assert.match(refusal('run', '--fleet', FLEET, ...fixed), new RegExp(`^${fixed[0]}: ${FLEET} is booted already`));
    }
  });

  it('take the load and the thresholds of a scenario, divided among the instances', () => {
    const { load, wanted } = read('run', ...URL_FLAG, '--instances', '10', '--scenario', 'hundred-thousand');
    assert.deepEqual([load?.desktops, load?.rate, wanted.load?.desktops], [10_000, 200, 10_000]);
    assert.ok((load?.thresholds.length ?? 0) > 0);
    const more = read('run', ...URL_FLAG, '--threshold', 'p99 < 50ms', '--threshold', 'lost == 0').load;
    assert.deepEqual(more?.thresholds, ['p99 < 50ms', 'lost == 0']);
    assert.match(refusal('run', ...URL_FLAG, '--threshold', 'fast'), /"fast" is not a threshold/);
    assert.match(refusal('run', ...URL_FLAG, '--scenario', 'crowd', '--rate', '5'), /^--rate: the scenario decides it/);
    assert.match(refusal('run', ...URL_FLAG, '--scenario', 'nowhere'), /^There is no scenario "nowhere"/);
    assert.match(refusal('run', '--fleet', FLEET, '--scenario', 'crowd'), /^--scenario: .* is booted already/);
  });

  it('say where the relay’s own figures come from: its fleet, or its admin port', () => {
    const relay = 'relay-261121-0412-7f3a';
    assert.equal(read('run', ...URL_FLAG, '--relay-fleet', relay).relayFleet, relay);
    const admin = ['--admin-url', 'http://10.0.0.5:8083', '--admin-token-file', 'token'];
    assert.deepEqual(read('run', ...URL_FLAG, ...admin).admin, { url: 'http://10.0.0.5:8083', tokenFile: 'token' });
    assert.match(refusal('run', ...URL_FLAG, ...admin.slice(0, 2)), /go together/);
    assert.match(refusal('run', ...URL_FLAG, ...admin, '--relay-fleet', relay), /^--relay-fleet: its relay posts/);
    assert.match(refusal('run', ...URL_FLAG, '--relay-fleet', FLEET), /^--relay-fleet: must be the name of a relay/);
    assert.match(refusal('update'), /^--fleet: say which fleet/);
  });

  it('name fleets so that two that start at once differ, and accept such a name', () => {
    const { fleet } = read('up', ...URL_FLAG).wanted;
    assert.notEqual(fleet, read('up', ...URL_FLAG).wanted.fleet);
    assert.equal(read('down', '--fleet', fleet).fleet, fleet);
  });
});

describe('changed record', () => {
  const NOW_MS = Date.parse('2026-11-21T04:12:00Z');
  const { wanted, load } = read('up', ...URL_FLAG);
  const record: FleetRecord = {
    ...{ wanted, readySeconds: 300, startedMs: NOW_MS, deadlineMs: NOW_MS + 60 * 60_000, started: ['i-1'], rootGib: 8 },
    prices: { instance: {}, address: { unread: '' }, volume: { unread: '' }, transfer: { unread: '' } },
    load: recorded(load as NonNullable<typeof load>),
  };

  it('is the record itself without changes', () => {
    assert.deepEqual(changedRecord(record, {}, NOW_MS), record);
  });

  it('has the changes, in the load that is run and in the one that is reported', () => {
    const relay = new URL('http://other.example/');
    const changed = changedRecord(
      record,
      { desktops: 5, seconds: 20, relays: [relay], readySeconds: 9, more: { spriteBytes: 9 } },
      NOW_MS,
    );
    const expected = { ...record.load, desktops: 5, seconds: 20, relay: relay.href, more: { spriteBytes: 9 } };
    assert.deepEqual(changed.load, expected);
    assert.deepEqual(changed.wanted.load, { desktops: 5, rate: 100, seconds: 22, relay: relay.href });
    assert.equal(changed.readySeconds, 9);
    assert.deepEqual(changed.started, record.started);
  });

  it('is rejected when the load would not end before the fleet does, or when there is none', () => {
    const late = NOW_MS + 58 * 60_000;
    assert.throws(() => changedRecord(record, { seconds: 600 }, late), {
      constructor: Misused,
      message: /^The load takes 11 minutes, and swarm-.* ends by itself in 2\.$/,
    });
    const scenario = { name: 'crowd', shows: '', parkSeconds: 9, plan: ENGINE_PLAN };
    const decided = { ...record, load: { ...(record.load as NonNullable<typeof record.load>), scenario } };
    assert.throws(() => changedRecord(decided, { rate: 5 }, NOW_MS), /scenario crowd, with which .* decides rate/);
    assert.deepEqual(changedRecord(decided, { thresholds: ['lost == 0'] }, NOW_MS).load?.thresholds, ['lost == 0']);
    assert.throws(() => changedRecord({ ...record, load: undefined }, { rate: 5 }, NOW_MS), { constructor: Misused });
  });
});
