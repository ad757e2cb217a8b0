/**
 * A lock between processes: one of them sets up or builds, the others wait and then find it done.
 *
 * Plain JavaScript, because the launcher runs it before any package is installed. Invariant: the lock file appears whole, with
 * its owner's pid, so a lock whose owner has died is recognised and replaced. Cost: a file; a waiter looks five times a second.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';

const LOOK_EVERY_MS = 200; // a build takes seconds, so nobody notices the wait; 5 looks a second cost nothing

/**
 * Runs `act` while holding the lock, and returns what it returns.
 *
 * Shape   `waiting` is called once with the owner's pid, if another process holds the lock.
 * Throws  what `act` throws; the lock is released then too.
 */
export function withLock(path, act, waiting = (_owner) => {}) {
  acquire(path, waiting);
  try {
    return act();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Errors of the system that say: this user may not write there. */
const NOT_WRITABLE = ['EACCES', 'EPERM', 'EROFS'];

/**
 * The same for an `act` that returns undefined, or why it failed. Returns that, or why the lock's folder can't be written to: the
 * project belongs to another user, as that of a service does.
 */
export function withLockOrWhy(path, act, waiting) {
  let isLocked = false;
  try {
    return withLock(
      path,
      () => {
        isLocked = true;
        return act();
      },
      waiting,
    );
  } catch (error) {
    if (isLocked || !NOT_WRITABLE.includes(error.code)) throw error;
    return `this user can't write to ${dirname(path)}; run "npm run setup" as the owner of the project`;
  }
}

function acquire(path, waiting) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  let told = false;
  try {
    while (!linked(mine, path)) {
      const owner = ownerOf(path);
      if (owner === undefined) continue; // released between the two looks
      if (!isAlive(owner)) {
        replace(path, owner);
        continue;
      }
      if (!told) waiting(owner);
      told = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

function linked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** The owner's pid; undefined when there is no lock any more. */
function ownerOf(path) {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Removes a dead owner's lock. If another process replaced it a moment ago, that one's lock is put back. */
function replace(path, owner) {
  const aside = `${path}.dead-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return;
  }
  if (ownerOf(aside) !== owner) linked(aside, path);
  rmSync(aside, { force: true });
}
