// What every case gets: where things are, what was asked for, where figures go.
import type { Recorder } from './results.js';
import type { Rules } from './systems.js';
import type { Template } from './traffic.js';

export interface BenchOptions {
  readonly cases: readonly string[];
  readonly short: boolean;
  readonly peers: boolean;
  readonly paranoia: readonly number[];
  readonly workers: readonly number[];
  readonly repetitions: number;
  readonly seconds: number; // of one measured run
  readonly minutes: number; // of an outage
  readonly warmUpSeconds: number;
  readonly listener: 'auto' | 'net' | 'uws' | 'node';
  readonly out: string;
}
export interface BenchContext {
  readonly root: string;
  readonly options: BenchOptions;
  readonly rules: Rules;
  readonly traffics: readonly (readonly [string, readonly Template[]])[];
  readonly recorder: Recorder;
  readonly progress: (text: string) => void;
}
