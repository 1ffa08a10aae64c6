// Versions of Python packages: PEP 440, "Version scheme", with its normalisations.
import { byNumber, compareLists, sign } from './parts.js';

const shape = new RegExp(
  '^v?(?:(?<epoch>\\d+)!)?(?<release>\\d+(?:\\.\\d+)*)' +
    '(?:[-_.]?(?<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?<preNumber>\\d*))?' +
    '(?:-(?<post1>\\d+)|[-_.]?(?<post>post|rev|r)[-_.]?(?<postNumber>\\d*))?' +
    '(?:[-_.]?(?<dev>dev)[-_.]?(?<devNumber>\\d*))?' +
    '(?:\\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$',
);
const ranks: Readonly<Record<string, number>> = { alpha: 1, a: 1, beta: 2, b: 2, preview: 3, pre: 3, c: 3, rc: 3 };

interface Parsed {
  readonly epoch: string;
  readonly release: readonly string[];
  /** Rank of the phase: 0 a development release of no phase, 4 the release itself. */
  readonly phase: number;
  readonly phaseNumber: string;
  /** null: none, which comes before every one. */
  readonly post: string | null;
  /** null: none, which comes behind every one. */
  readonly dev: string | null;
  readonly local: readonly string[];
}

function parse(text: string): Parsed | null {
  const groups = shape.exec(text.trim().toLowerCase())?.groups;
  if (groups === undefined) return null;
  const { epoch = '0', release = '', pre, preNumber, post1, post, postNumber, dev, devNumber, local } = groups;
  const hasPost = post1 !== undefined || post !== undefined;
  return {
    epoch,
    release: release.split('.'),
    phase: pre !== undefined ? (ranks[pre] ?? 0) : dev !== undefined && !hasPost ? 0 : 4,
    phaseNumber: preNumber || '0',
    post: hasPost ? (post1 ?? (postNumber || '0')) : null,
    dev: dev === undefined ? null : devNumber || '0',
    local: local === undefined ? [] : local.split(/[-_.]/),
  };
}

const orNull = (one: string | null, other: string | null, ofNull: number): number =>
  one === null || other === null ? (one === other ? 0 : one === null ? ofNull : -ofNull) : byNumber(one, other);

function compareLocal(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1;
  const [isNumber, isOther] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOther) return byNumber(one, other);
  return isNumber === isOther ? sign(one, other) : isNumber ? 1 : -1;
}

export function comparePep440(left: string, right: string): number | null {
  const [one, other] = [parse(left), parse(right)];
  if (one === null || other === null) return null;
  return (
    byNumber(one.epoch, other.epoch) ||
    compareLists(one.release, other.release, (part = '0', wanted = '0') => byNumber(part, wanted)) ||
    one.phase - other.phase ||
    byNumber(one.phaseNumber, other.phaseNumber) ||
    orNull(one.post, other.post, -1) ||
    orNull(one.dev, other.dev, 1) ||
    compareLists(one.local, other.local, compareLocal)
  );
}
