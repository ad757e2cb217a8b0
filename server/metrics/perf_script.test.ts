import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPerfScript } from './perf_script.ts';
import { listFunctions, readProfile } from './profile_list.ts';

/** As `perf script` prints them: samples of 10 and 8 ms within 40 ms; two threads of one name; a name with a space. */
const TEXT = `# a header line, with --header
node 4711 100.000000:   10000000 cpu-clock:pppH: 
\t    aa writev+0x1f (/usr/lib/libc.so.6)
\t    ab sprites::Send(int, char (*)[3])+0x11 (/srv/front.node)
\t    ac [unknown] (//anon)

V8 Worker 4711/4712 [001] 100.010000:   10000000 cpu-clock: 
\t    ba v8::internal::(anonymous namespace)::Mark(unsigned long)+0x4 (/usr/bin/node)

V8 Worker 4711/4713 [000] 100.020000:   10000000 task-clock: 

node 4711 100.040000:    8000000 cpu-clock: 
\t    ab sprites::Send(int, char (*)[3])+0x12 (/srv/front.node)
\t    ac [unknown] (/tmp/perf-4711.map)
`;

describe('what perf script prints', () => {
  it('is a profile of each thread by wall clock, with the time that it was on no core', () => {
    const listed = listFunctions(readProfile(TEXT), 9).map(({ name, own, whole }) => [
      name,
      Math.round(own * 100),
      Math.round(whole * 100),
    ]);
    assert.deepEqual(listed, [
      ['V8 Worker · (not on a core)', 75, 75],
      ['node · (not on a core)', 55, 55],
      ['node · writev (libc.so.6)', 25, 25],
      ['node · sprites::Send(int, char (*)[3]) (front.node)', 20, 45],
      ['V8 Worker · v8::internal::(anonymous namespace)::Mark(unsigned long) (node)', 13, 13],
      ['node · (JavaScript)', 0, 45],
    ]);
  });

  it('is none without a sample of a clock', () => {
    assert.equal(readPerfScript(''), undefined);
    assert.equal(readPerfScript(TEXT.replaceAll(/(cpu|task)-clock/g, 'cycles')), undefined);
    assert.throws(() => readProfile(TEXT.replaceAll(/(cpu|task)-clock/g, 'cycles')), /-e cpu-clock/);
  });
});
