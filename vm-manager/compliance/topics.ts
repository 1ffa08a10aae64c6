// What controls of frameworks are about: the weaknesses that speak against a control, the kinds of scans that look for
// them, and the checks of the firewall (api/compliance/checks.ts) that answer for it. A control names topics.
import type { Source } from '../findings/words.js';

export interface Topic {
  /** CWE numbers; an open finding with one of them is a gap of the control. */
  readonly cwes: readonly number[];
  /** Scans that look for them: one within the last 90 days is evidence. */
  readonly sources: readonly Source[];
  /** Names of checks of the firewall; unknown names answer nothing. */
  readonly checks: readonly string[];
  /** Every open finding of these sources is a gap, whatever its weakness. */
  readonly openIn?: readonly Source[];
  /** Every open finding that is past its term is a gap. */
  readonly overdue?: true;
}

const topic = (
  cwes: readonly number[],
  sources: readonly Source[] = [],
  checks: readonly string[] = [],
  more: Pick<Topic, 'openIn' | 'overdue'> = {},
): Topic => ({ cwes, sources, checks, ...more });

const code: readonly Source[] = ['sast', 'dast'];

export const topics = {
  access: topic(
    [22, 23, 276, 284, 285, 287, 352, 425, 566, 639, 732, 862, 863, 1220],
    ['dast', 'api'],
    ['site_auth', 'object_access'],
  ),
  availability: topic([400, 404, 674, 770, 772, 799, 834, 835, 1333], [], ['limits']),
  audit: topic([117, 223, 778], [], ['audit_chain', 'central_log']),
  alerts: topic([778], [], ['alerting']),
  browser: topic([79, 346, 352, 601, 693, 942, 1021, 1275], ['dast'], ['leaks']),
  changes: topic([], [], ['change_control']),
  components: topic([829, 1035, 1104, 1395], ['sca', 'container'], ['virtual_patches'], {
    openIn: ['sca', 'container'],
  }),
  configuration: topic(
    [2, 16, 209, 215, 260, 266, 269, 489, 497, 538, 548, 611, 614, 756, 942, 1004, 1188],
    ['iac', 'k8s', 'cspm', 'dast'],
  ),
  containers: topic([250, 266, 269, 276, 284, 668, 732], ['k8s', 'container', 'iac']),
  cookies: topic([565, 614, 784, 1004, 1275], ['dast']),
  crypto: topic([261, 310, 319, 321, 322, 323, 324, 325, 326, 327, 328, 329, 347, 757, 759, 760, 780, 916], ['sast']),
  data: topic(
    [200, 201, 202, 312, 313, 315, 316, 359, 524, 525, 532, 538, 922],
    ['sast', 'dast'],
    ['masking', 'storage_limit'],
  ),
  deserialization: topic([502, 915, 1321], code, ['integrity']),
  errors: topic([209, 248, 252, 390, 391, 392, 396, 397, 460, 476, 550, 636, 703, 754, 755], ['sast'], ['leaks']),
  files: topic([22, 23, 36, 73, 98, 409, 434, 552], code, ['ssrf']),
  injection: topic(
    [20, 74, 75, 77, 78, 79, 80, 83, 87, 88, 89, 90, 91, 93, 94, 95, 96, 113, 116, 564, 643, 917, 943, 1336],
    code,
    ['injection'],
  ),
  input: topic([20, 129, 138, 179, 444, 690, 915, 1173, 1284, 1287, 1288, 1289], ['dast', 'api'], ['schema']),
  integrity: topic([345, 353, 354, 426, 494, 502, 506, 565, 784, 829, 830, 915], ['sast', 'sca'], ['integrity']),
  logic: topic([362, 367, 653, 799, 840, 841], ['manual', 'dast']),
  memory: topic([119, 120, 121, 122, 125, 190, 401, 415, 416, 476, 787, 824], ['sast']),
  monitoring: topic([], [], ['alerting', 'central_log']),
  passwords: topic([256, 257, 260, 261, 521, 522, 549, 620, 640, 1391], ['dast'], ['passwords', 'lockout']),
  perimeter: topic([], [], ['waf_blocks', 'limits']),
  privileges: topic([250, 266, 268, 269, 272, 276, 284, 732], ['iac', 'k8s', 'cspm'], ['roles', 'second_factor']),
  secrets: topic([256, 257, 259, 312, 321, 522, 540, 547, 615, 798], ['secret'], [], {
    openIn: ['secret'],
  }),
  sessions: topic([384, 488, 539, 598, 613, 614], ['dast'], ['session_idle']),
  ssrf: topic([441, 918], ['dast'], ['ssrf']),
  testing: topic([], ['sast', 'dast', 'sca'], ['tested_nightly']),
  tls: topic([295, 297, 299, 300, 311, 319, 523, 757, 5], ['dast', 'iac']),
  tokens: topic([290, 294, 345, 347, 613, 1390], ['dast', 'api'], ['site_auth']),
  second_factor: topic([308, 287, 306, 307, 1390], [], ['second_factor', 'lockout']),
  authentication: topic(
    [287, 288, 290, 294, 297, 300, 302, 303, 304, 305, 306, 307, 308, 346, 384, 521, 613, 620, 640, 798],
    ['dast', 'api'],
    ['site_auth'],
  ),
  vulnerabilities: topic([], ['sca', 'dast', 'sast'], ['virtual_patches'], { overdue: true }),
  xml: topic([91, 611, 643, 776, 827], code, ['injection']),
  /** What people and papers answer: an attestation. */
  papers: topic([]),
} satisfies Record<string, Topic>;

export type TopicName = keyof typeof topics;

/** A control as it stands in a table: number, title in words of our own, topics. */
export type ControlLine = readonly [id: string, title: string, ...topics: TopicName[]];

export interface FrameworkData {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly controls: readonly ControlLine[];
}
