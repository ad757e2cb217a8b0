import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMMANDS, FLAGS, help, Misused, type Options, readOptions } from './options.ts';

const ENVIRONMENT = { AWS_REGION: 'eu-west-1', SPRITES_BUCKET: 'sprites-ann' };
const URL_FLAG = ['--url', 'http://relay.example:8080/'];
const read = (...words: string[]) => readOptions(words, ENVIRONMENT) as Options;

/** The message of what is refused. */
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
    const text = help();
    for (const command of Object.keys(COMMANDS)) assert.match(text, new RegExp(`^  ${command} `, 'm'));
    for (const flag of Object.keys(FLAGS)) assert.match(text, new RegExp(`^  --${flag}\\b`, 'm'));
    const { wanted, load, places } = read('run', ...URL_FLAG);
    assert.equal(
      `${load?.desktops} ${load?.rate} ${load?.seconds}`,
      `${FLAGS.desktops[1]} ${FLAGS.rate[1]} ${FLAGS.seconds[1]}`,
    );
    assert.equal(
      `${wanted.instances} ${wanted.minutes} ${wanted.maxCostUsd}`,
      `${FLAGS.instances[1]} ${FLAGS.minutes[1]} ${FLAGS['max-cost'][1]}`,
    );
    assert.equal(`${wanted.buy} ${places.readySeconds}`, `${FLAGS.buy[1]} ${FLAGS['ready-within'][1]}`);
    assert.equal(wanted.atLeast, wanted.instances);
    assert.ok(
      help()
        .split('\n')
        .every((line) => line.length <= 140),
    );
  });

  it('are help without a command, and with --help', () => {
    assert.equal(readOptions([], ENVIRONMENT), 'help');
    assert.equal(readOptions(['up', '--help'], ENVIRONMENT), 'help');
  });

  it('take what stands after -- for the engine, and nothing dangerous', () => {
    assert.deepEqual(read('run', ...URL_FLAG, '--', '--sprite-bytes', '400').load?.more, ['--sprite-bytes', '400']);
    assert.match(refusal('run', ...URL_FLAG, '--', '$(reboot)'), /can't be passed to the engine/);
  });

  it('say which one is wrong, and what it takes', () => {
    assert.match(refusal('fly'), /There is no command "fly"/);
    assert.match(refusal('up', '--wings', '2'), /--wings/);
    assert.match(refusal('up'), /--url: say which relay/);
    assert.match(refusal('up', '--url', 'https://relay.example/'), /--url: must be an http URL/);
    assert.match(refusal('up', ...URL_FLAG, '--instances', '0'), /--instances: must be a number from 1/);
    assert.match(refusal('up', ...URL_FLAG, '--instances', '2.5'), /--instances: must be a whole number/);
    assert.match(refusal('up', ...URL_FLAG, '--at-least', '3'), /--at-least: must be a number from 1 to 2/);
    assert.match(refusal('up', ...URL_FLAG, '--buy', 'cheap'), /--buy: must be one of on-demand, spot, fleet/);
    assert.match(refusal('up', ...URL_FLAG, '--type', 'c6i'), /--type: must be an instance type/);
    assert.match(refusal('up', ...URL_FLAG, '--bucket', 'mine'), /--bucket: must be sprites-…/);
    assert.match(refusal('up', ...URL_FLAG, '--image', '12'), /--image: must be an id/);
    assert.match(
      refusal('up', ...URL_FLAG, '--minutes', '1', '--seconds', '90'),
      /--minutes: 1 are fewer than the 2 the load takes/,
    );
    assert.match(refusal('up', '--relay'), /--allow: must be an address block/);
    assert.match(refusal('run', '--relay'), /a relay does not run a load/);
    assert.match(refusal('down'), /--fleet: say which fleet, or --all/);
    assert.match(refusal('down', '--fleet', '*'), /--fleet: must be a name/);
    assert.match(refusal('collect'), /--fleet: say which/);
    assert.throws(() => readOptions(['status'], {}), /--region: say which/);
  });

  it('name fleets so that two that start at once differ, and the name is taken back', () => {
    const { fleet } = read('up', ...URL_FLAG).wanted;
    assert.notEqual(fleet, read('up', ...URL_FLAG).wanted.fleet);
    assert.equal(read('down', '--fleet', fleet).fleet, fleet);
  });
});
