/** A release: what is checked before it, its notes, and its bill of materials. release.long.test.ts builds one. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dated, sectionOf } from './changelog.ts';
import { LIBRARIES, writeBill } from './parts.ts';
import { check, inJson } from './release.ts';
import { FILE, thirdParty } from './third_party.ts';

const CHANGELOG = '# Changelog\n\n## 0.3.0 (unreleased)\n\n- New.\n\n## 0.2.0 (2026-01-02)\n\n- Old.\n';

describe('the changelog', () => {
  it('has the notes of each version', () => {
    assert.equal(sectionOf(CHANGELOG, '0.3.0'), '- New.\n');
    assert.equal(sectionOf(CHANGELOG, '0.2.0'), '- Old.\n');
    assert.throws(() => sectionOf(CHANGELOG, '0.4.0'), /no section "## 0\.4\.0 \(unreleased\)"/);
    assert.throws(() => sectionOf('## 0.4.0 (unreleased)\n\n## 0.3.0 (2026-01-02)\n\n- New.\n', '0.4.0'), /is empty/);
  });

  it('gets the date of a release once', () => {
    assert.match(dated(CHANGELOG, '0.3.0', '2026-11-27'), /^## 0\.3\.0 \(2026-11-27\)$/m);
    assert.equal(dated(CHANGELOG, '0.2.0', '2026-11-27'), CHANGELOG);
  });

  it('of this project has a section of the next version', () => {
    const own = readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8');
    const [, version] = /^## (\S+)/m.exec(own) ?? [];
    assert.ok(sectionOf(own, version).length > 0);
  });
});

describe('the bill of materials', () => {
  const bill = (serialNumber: string, timestamp: string) => ({
    bomFormat: 'CycloneDX',
    serialNumber,
    metadata: { timestamp, component: { name: 'source' } },
    components: [{ name: 'express' }],
  });
  const versions = new Map([['nlohmann-json3-dev', '3.11.2-2']]);

  it('is the same each time, and has the libraries in C++ with the versions of this machine', () => {
    const one = writeBill(bill('urn:uuid:1', '2026-01-01T00:00:00.000Z'), 1_700_000_000, versions);
    assert.equal(writeBill(bill('urn:uuid:2', '2027-01-01T00:00:00.000Z'), 1_700_000_000, versions), one);
    const { serialNumber, metadata, components } = JSON.parse(one);
    assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.deepEqual(metadata, { timestamp: '2023-11-14T22:13:20.000Z', component: { name: 'sprites' } });
    assert.equal(components.length, 1 + LIBRARIES.length);
    assert.equal(components[1].purl, 'pkg:deb/debian/nlohmann-json3-dev@3.11.2-2');
  });
});

it('what others have made is listed for the packages of the lockfile, each with a licence that lets it be given on', () => {
  const text = thirdParty(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'));
  assert.equal(readFileSync(FILE, 'utf8'), text, 'run: node tools/release/third_party.ts');
  const licences = [...text.matchAll(/^\| ([\w.-]+) \| [^|]+ \|$/gm)].map(([, licence]) => licence);
  assert.deepEqual(
    licences.filter(
      (one) => !/^(?:MIT|ISC|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|0BSD|Unlicense|licence|---)$/.test(one),
    ),
    [],
  );
});

it('the version is written into package.json and into the lockfile, whatever npm calls the package, and nothing else changes', () => {
  const own = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
  const { version } = JSON.parse(own('package.json'));
  for (const name of ['package.json', 'package-lock.json']) assert.equal(inJson(own(name), version), own(name));
  const lockfile = {
    name: '@ann/sprites',
    version: '0.1.0',
    packages: { '': { name: '@ann/sprites', version: '0.1.0' } },
  };
  const { version: changed, packages } = JSON.parse(inJson(JSON.stringify(lockfile), '0.3.0'));
  assert.deepEqual([changed, packages[''].version], ['0.3.0', '0.3.0']);
});

describe('a checkout', () => {
  const root = mkdtempSync(join(tmpdir(), 'sprites-release-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  before(() => {
    git('init', '-q');
    writeFileSync(join(root, 'CHANGELOG.md'), CHANGELOG);
    git('add', '.');
    git('-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '-qm', 'one');
  });
  after(() => rmSync(root, { recursive: true }));

  it('is released when it is clean, its version is new, and its changes are told', () => {
    check(root, '0.3.0', false, true);
    assert.throws(() => check(root, '0.4.0', true, true), /no section/);
    git('tag', 'v0.3.0');
    assert.throws(() => check(root, '0.3.0', false, true), /There is a tag v0\.3\.0 already/);
    check(root, '0.3.0', true, false);
    writeFileSync(join(root, 'new'), '');
    assert.throws(() => check(root, '0.3.0', true, true), /^Error: Commit or remove .*\n\?\? new$/);
    rmSync(join(root, 'new'));
  });

  it('is not released before the forge says that its tests have passed', () => {
    git('tag', '-d', 'v0.3.0');
    // There is no forge: either gh is missing, or it says so.
    assert.throws(() => check(root, '0.3.0', false, false), /--ci-passed/);
  });
});
