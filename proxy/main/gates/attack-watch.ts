// Attack mode on this node: once a second what workers counted goes to the detector, and what it says into memory that
// the gates read. The baseline is kept on disk, so that a restart does not have to learn again; each change is an event
// for the control plane and stays in a list, from which the control plane takes it over into its audit log.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProxyConfig } from '../../contract/index.js';
import { AttackFlag } from '../../shared-state/attack-flag.js';
import { readBaseline } from '../attack/baseline.js';
import { AttackDetector, type AttackPolicy, type AttackTransition } from '../attack/detector.js';
import { writeAtomically } from '../atomic-file.js';

const lookEveryMs = 1000;
const saveEveryMs = 300_000;
/** Changes that are kept for people and the control plane; older ones are in its log. */
const transitionsMax = 50;

export interface AttackWatchOptions {
  readonly dataDir: string;
  readonly memory: SharedArrayBuffer;
  readonly config: () => Pick<ProxyConfig, 'attackMode' | 'attackSpikeFactor' | 'attackMinRpm'>;
  readonly onChange: (transition: AttackTransition) => void;
}

export class AttackWatch {
  private readonly flag: AttackFlag;
  private detector = new AttackDetector();
  private readonly transitions: AttackTransition[] = [];
  private timer: NodeJS.Timeout | null = null;
  private savedAtMs = performance.now();

  constructor(private readonly options: AttackWatchOptions) {
    this.flag = new AttackFlag(options.memory);
  }

  private get path(): string {
    return join(this.options.dataDir, 'attack-baseline.json');
  }

  private get policy(): AttackPolicy {
    const { attackMode: mode, attackSpikeFactor: spikeFactor, attackMinRpm: minRpm } = this.options.config();
    return { mode, spikeFactor, minRpm };
  }

  /** The baseline of before; without one that can be read it is learned anew. */
  async resume(): Promise<void> {
    try {
      this.detector = new AttackDetector(readBaseline(JSON.parse(await readFile(this.path, 'utf8'))));
    } catch {
      this.detector = new AttackDetector();
    }
  }

  begin(): void {
    this.timer = setInterval(() => this.look(), lookEveryMs).unref();
  }

  private look(): void {
    const { policy, detector } = this;
    const moment = { nowMs: performance.now(), wallMs: Date.now(), requests: this.flag.take() };
    const transition = detector.look(moment, policy);
    this.flag.raise(policy.mode === 'on' || detector.isUnderAttack);
    if (transition !== null) {
      this.transitions.push(transition);
      if (this.transitions.length > transitionsMax) this.transitions.shift();
      this.options.onChange(transition);
    }
    if (moment.nowMs - this.savedAtMs < saveEveryMs) return;
    this.savedAtMs = moment.nowMs;
    void this.save();
  }

  /** Never in the way of a stop: without the file the baseline is learned again. */
  private async save(): Promise<void> {
    try {
      await mkdir(this.options.dataDir, { recursive: true });
      await writeAtomically(this.path, Buffer.from(JSON.stringify(this.detector.baseline.save())));
    } catch {
      this.savedAtMs = performance.now();
    }
  }

  async close(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    await this.save();
  }

  get isActive(): boolean {
    return this.policy.mode === 'on' || this.detector.isUnderAttack;
  }

  get rpm(): number {
    return this.detector.rpm;
  }

  get baselineRpm(): number {
    return this.detector.baseline.rpm;
  }

  /** As `GET :2019/gates` has it. */
  describe(): Record<string, unknown> {
    const { policy, detector, transitions } = this;
    return {
      mode: policy.mode,
      active: this.isActive,
      rpm: detector.rpm,
      baselineRpm: detector.baseline.rpm,
      thresholdRpm: detector.threshold(policy),
      learnedMinutes: detector.baseline.minutes,
      transitions: [...transitions],
    };
  }
}
