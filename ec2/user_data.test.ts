import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ensurePrograms, installHint } from '../tools/machine.js';
import { bootScript } from './fleet.ts';
import { tooLarge, USER_DATA_BYTES_MAX, userData } from './user_data.ts';

const SETTINGS = {
  minutes: 45,
  jobUrl: 'https://sprites-x.s3.amazonaws.com/runs/f/job?X-Amz-Signature=ab&X-Amz-Expires=3900',
  results: {
    url: 'https://sprites-x.s3.amazonaws.com/',
    prefix: 'runs/f/',
    fields: { bucket: 'sprites-x', Policy: 'e30=', 'X-Amz-Date': 'd' },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'sprites-user-data-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The settings, as bash reads them from the script. */
function readBack(script: string): string[] {
  const head = script.slice(0, script.indexOf('shutdown'));
  const print =
    'printf "%s\\0" "$SPRITES_MINUTES" "$SPRITES_JOB" "$SPRITES_RESULTS" "$SPRITES_PREFIX" "$SPRITES_FIELDS"';
  return execFileSync('bash', ['-c', `${head}\n${print}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}

describe('user data', () => {
  for (const role of ['swarm', 'relay', 'nats'] as const) {
    const script = bootScript(role, SETTINGS);

    it(`of a ${role} schedules the shutdown before it does anything else`, () => {
      const lines = script.split('\n');
      assert.equal(lines[0], '#!/bin/bash');
      const first = lines.slice(1).findIndex((line) => !/^(SPRITES_\w+='|[\w-]+=[^ ]*'?$)/.test(line)) + 1;
      assert.match(lines[first], /^shutdown -h \+"\$\{SPRITES_MINUTES:=60\}"/);
    });

    it(`of a ${role} passes shellcheck`, {
      skip: ensurePrograms(['shellcheck'], ['shellcheck']) ? false : `no shellcheck: ${installHint(['shellcheck'])}`,
    }, () => {
      const file = join(folder, `${role}.sh`);
      writeFileSync(file, script);
      const { stdout, status } = spawnSync('shellcheck', [file], { encoding: 'utf8' });
      assert.equal(status, 0, stdout);
    });

    it(`of a ${role} leaves half of EC2's limit for long addresses`, () => {
      assert.ok(Buffer.byteLength(script) < USER_DATA_BYTES_MAX / 2 + 512, `${Buffer.byteLength(script)}`);
    });

    it(`of a ${role} is plain ASCII, which every console accepts`, () => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
      assert.match(script, /^[\x00-\x7f]*$/);
    });
  }

  it('has a part in the bundle that passes shellcheck too', {
    skip: ensurePrograms(['shellcheck'], ['shellcheck']) ? false : `no shellcheck: ${installHint(['shellcheck'])}`,
  }, () => {
    const { stdout, status } = spawnSync('shellcheck', [join(import.meta.dirname, 'boot/network.sh')], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });

  it('passes settings to bash unchanged, whatever characters they contain', () => {
    const jobUrl = 'https://x/?a=$(id)&b=`id`&c="&d=\\&e=$HOME';
    const { minutes, results } = SETTINGS;
    const fields = 'bucket=sprites-x\nPolicy=e30=\nX-Amz-Date=d';
    assert.deepEqual(readBack(bootScript('swarm', { ...SETTINGS, jobUrl })), [
      `${minutes}`,
      jobUrl,
      results.url,
      results.prefix,
      fields,
    ]);
  });

  it('rejects a value that would end its quotes', () => {
    for (const odd of ["'", '\0', '\r']) {
      assert.throws(
        () => userData(['#!/bin/bash\n'], { ...SETTINGS, jobUrl: `https://x/${odd}` }),
        /SPRITES_JOB contains a quote/,
      );
    }
  });

  it('is too large beyond 16,384 bytes', () => {
    assert.equal(tooLarge(16_383), undefined);
    assert.equal(tooLarge(16_384), undefined);
    assert.match(tooLarge(16_385) as string, /16385 bytes, and EC2 accepts 16384/);
  });

  it('joins two scripts to one', () => {
    const boot = join(import.meta.dirname, 'boot');
    const [instance, swarm] = ['instance.sh', 'swarm.sh'].map((name) => readFileSync(join(boot, name), 'utf8'));
    const script = bootScript('swarm', SETTINGS);
    assert.ok(script.endsWith(swarm.slice(swarm.indexOf('\n') + 1)));
    assert.ok(script.includes(instance.slice(instance.indexOf('\n') + 1)));
    assert.equal(script.match(/^#!/gm)?.length, 1);
  });
});
