/**
 * A relay with `--durability machine` goes on after a power cut: what was answered 202 was on the disk.
 *
 * The data directory is on a file system of its own, in a file. At each cut the relay is killed, and the file is copied:
 * the copy has what was written to the disk, and nothing of what was still in the memory of the machine. The next relay starts from
 * the copy. Needs root and a loop device.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Crowd } from './crowd.ts';
import { randomOf } from './random.ts';
import { BOUNDED, lastingPorts, type RelayProcess, startRelay, until } from './relay_process.ts';

const DESKTOPS = 12;
const CUTS = 2;

/** Room for the journal with its reserve, and for the file system's own. */
const DISK_MIB = 64;

/** Pause of a desktop after each throw, in ms. */
const REST_MS = 50;

/** A file system in a file that can be copied as the power cut leaves it. */
class CuttableDisk {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sprites-power-'));
  #cuts = 0;

  /** Why there can't be one here; false when it is there. */
  readonly lacking: string | false;

  constructor() {
    const image = this.#image(0);
    const isMade = succeeds('truncate', '-s', `${DISK_MIB}M`, image) && succeeds('mkfs.ext4', '-q', '-F', image);
    this.lacking = isMade && this.#mount() ? false : 'no file system in a file can be mounted here: this needs root';
  }

  /** The data directory of the relay. */
  get data(): string {
    return this.#mountPoint(this.#cuts);
  }

  /** Goes on with what was on the disk. */
  cut(): void {
    copyFileSync(this.#image(this.#cuts), this.#image(this.#cuts + 1));
    succeeds('umount', '--lazy', this.data);
    this.#cuts++;
    if (!this.#mount()) throw new Error('the copy can’t be mounted');
  }

  remove(): void {
    if (this.lacking === false) succeeds('umount', '--lazy', this.data);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #image(cuts: number): string {
    return join(this.#folder, `disk-${cuts}`);
  }

  #mountPoint(cuts: number): string {
    return join(this.#folder, `mounted-${cuts}`);
  }

  #mount(): boolean {
    mkdirSync(this.data);
    return succeeds('mount', '-o', 'loop', this.#image(this.#cuts), this.data);
  }
}

function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

const disk = new CuttableDisk();
after(() => disk.remove());

describe('a relay with --durability machine', { ...BOUNDED, skip: disk.lacking }, () => {
  it('loses and doubles nothing when the power is cut', async (t) => {
    const random = randomOf(t);
    const crowd = new Crowd();
    const args = ['--durability', 'machine'];
    const ports = await lastingPorts();
    let relay: RelayProcess = await startRelay({ workers: 0, args, data: disk.data, ports });
    t.after(async () => {
      await crowd.stop();
      await relay.stop();
    });
    const { accepted } = crowd;
    await crowd.join(relay.url, DESKTOPS);
    await crowd.throwDuring(random, REST_MS, async () => {
      for (let cut = 1; cut <= CUTS; cut++) {
        const due = accepted.size + 50 + random() * 200;
        await until(`${Math.round(due)} throws are accepted`, () => accepted.size >= due);
        relay.kill(relay.pids.master, 'SIGKILL');
        disk.cut();
        await relay.stop();
        relay = await startRelay({ workers: 0, args, data: disk.data, ports });
      }
      const due = accepted.size + 50;
      await until(`${due} throws are accepted`, () => accepted.size >= due);
    });
    const metrics = async (name: string) => (await relay.metrics()).get(`sprites_${name}`) as number;
    await until('all that was accepted is acknowledged', async () => (await metrics('waiting')) === 0);
    assert.equal(await metrics('accepted_total'), accepted.size);
    crowd.assertConserved();
    t.diagnostic(`${CUTS} cuts, ${accepted.size} sprites, ${crowd.retries} retries`);
  });
});
