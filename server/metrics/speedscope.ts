/**
 * Profiles in the file format of speedscope: one sampled profile for each thread.
 *
 * Shape   samples that follow each other with the same stack are one sample with the sum of their weights.
 * Source  https://www.speedscope.app/file-format-schema.json
 */

/** A CPU profile of V8, as the inspector returns it. */
export interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  /** In µs, on a clock of its own. */
  startTime: number;
  endTime: number;
  /** Ids of nodes. */
  samples?: number[];
  /** In µs: the time from the previous sample, or from the start, to this one. */
  timeDeltas?: number[];
}

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

interface Frame {
  name: string;
  file?: string;
  line?: number;
  col?: number;
}

interface SampledProfile {
  type: 'sampled';
  name: string;
  unit: 'milliseconds';
  startValue: number;
  endValue: number;
  samples: number[][];
  weights: number[];
}

export class SpeedscopeFile {
  readonly #name: string;
  readonly #frames: Frame[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #profiles: SampledProfile[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  /** The number of a frame, the same for the same frame. */
  frame(frame: Frame): number {
    const key = `${frame.name}\n${frame.file ?? ''}\n${frame.line ?? ''}\n${frame.col ?? ''}`;
    let number = this.#byKey.get(key);
    if (number === undefined) {
      number = this.#frames.push(frame) - 1;
      this.#byKey.set(key, number);
    }
    return number;
  }

  /** Adds a profile. `stackAt(i)` is the stack of sample i, outermost frame first; `weights` are in ms. */
  add(name: string, startMs: number, weights: ArrayLike<number>, stackAt: (i: number) => number[]): void {
    const samples: number[][] = [];
    const sums: number[] = [];
    let previous: number[] | undefined;
    let endMs = startMs;
    for (let i = 0; i < weights.length; i++) {
      const stack = stackAt(i);
      endMs += weights[i];
      // The same stack is the same array.
      if (stack === previous) sums[sums.length - 1] += weights[i];
      else {
        samples.push(stack);
        sums.push(weights[i]);
        previous = stack;
      }
    }
    const weightsOf = sums.map((sum) => Math.round(sum * 1000) / 1000);
    const unit = 'milliseconds';
    this.#profiles.push({
      type: 'sampled',
      name,
      unit,
      startValue: startMs,
      endValue: endMs,
      samples,
      weights: weightsOf,
    });
  }

  /** Adds what V8 has seen of the JavaScript of the main thread. It began at `startMs`. */
  addCpuProfile(name: string, startMs: number, { nodes, samples = [], timeDeltas = [], ...times }: CpuProfile): void {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const stacks = new Map<number, number[]>();
    const visit = (id: number, above: number[]): void => {
      const node = byId.get(id);
      if (!node) return;
      const { functionName, url, lineNumber, columnNumber } = node.callFrame;
      const isRoot = functionName === '(root)';
      const place = url ? { file: url, line: lineNumber + 1, col: columnNumber + 1 } : {};
      const stack = isRoot ? above : [...above, this.frame({ name: functionName || '(anonymous)', ...place })];
      stacks.set(id, stack);
      for (const child of node.children ?? []) visit(child, stack);
    };
    if (nodes.length > 0) visit(nodes[0].id, []);
    // A sample lasts until the next one.
    const untilEnd = times.endTime - times.startTime - timeDeltas.reduce((sum, delta) => sum + delta, 0);
    const weights = samples.map((_, i) => Math.max(0, timeDeltas[i + 1] ?? untilEnd) / 1000);
    this.add(name, startMs + (timeDeltas[0] ?? 0) / 1000, weights, (i) => stacks.get(samples[i]) ?? []);
  }

  /** The file in pieces, one for each profile. */
  *text(): Generator<string> {
    const about = {
      $schema: 'https://www.speedscope.app/file-format-schema.json',
      exporter: 'sprites',
      name: this.#name,
      activeProfileIndex: 0,
      shared: { frames: this.#frames },
    };
    yield `${JSON.stringify(about).slice(0, -1)},"profiles":[`;
    for (const [i, profile] of this.#profiles.entries()) yield `${i > 0 ? ',' : ''}${JSON.stringify(profile)}`;
    yield ']}';
  }
}
