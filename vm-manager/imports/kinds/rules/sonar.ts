// Rules of SonarQube, by their numbers (`S2068` of `java:S2068`): which are vulnerabilities or hotspots, of which
// kind, and their weakness. The list is whole up to `lastKnown`: a number up to it that stands nowhere here is a bug
// or a code smell, a later one and a rule without a number are of a kind that is not known, so that they are shown.
// Facts of the rules' own metadata (type, CWE, languages), January 2026.
import type { Pattern } from '../profile.js';
import type { WeaknessTable } from '../weakness-tables.js';

const lastKnown = 8405;

/** CWE → numbers of rules. */
const numbers: WeaknessTable = {
  14: '5798',
  15: '6641',
  20: '2574 3394 4529 4530 4818 4823 4829 6384 6932 6967 7518 7693 7714 8387 8389',
  22: '2083 4639 4797 5042 6096 6549 8347',
  23: '3333',
  76: '6398',
  78: '2076 4721 5883 7630 7674 8263',
  79: '2575 2577 2578 4447 4564 5131 5247 5439 5696 5728 5753 6268 6299 6341 6342 6348 6362 6363 7409 7606',
  88: '6350',
  89: '1493 2077 3649 5392',
  90: '2078',
  91: '2435 6399',
  93: '5300',
  94: '5334 6389 7628 7698',
  95: '1523',
  98: '5335',
  102: '3374',
  104: '3367',
  113: '5167 6839',
  117: '4792 5145',
  119: '5782 6640',
  120: '1053 1079 1081 5801 5813 5814 5815 5816 6069',
  131: '2613',
  134: '2615',
  200: '5689 5736 5743 5804 6786 7204',
  209: '1148 6776 7966',
  213: '7435',
  243: '5802',
  250: '5604 5849 6502',
  252: '5308 5982',
  256: '5344',
  261: '2087',
  266: '6375 6381 6385 6387 6405 7634 7635 8233 8234 8264',
  269: '1057 4211 5378 6317 7071 7072',
  272: '7077',
  283: '4828',
  284: '6281 6321 6333 6379 6400 6404 6406 6408 6428 6429 6430 6463 6471 6473 6867 6868 7076',
  285: '4601 4834 5808',
  287: '5679 6293 6378',
  295: '3510 4424 4499 4830 5326 5435 5527 5742',
  304: '5832',
  305: '3335',
  306: '6346 6865',
  308: '6255',
  311: '6245 6275 6291 6300 6303 6308 6319 6327 6330 6332 6388 6403',
  312: '5324 8262',
  319: '5332 5730 5739 6249 6407 7088',
  324: '6401',
  321: '6301',
  323: '6432',
  326: '2278 4426',
  327: '2257 2258 4423 4432 4787 5542 5547 6410 7919',
  328: '2070 4790',
  329: '3275 3329',
  330: '4347 5328 6339',
  338: '2245',
  345: '2819 6402',
  346: '3273 7073 7074 8348',
  347: '5659 6377',
  348: '6287',
  352: '3752 4502',
  353: '5725',
  359: '5759',
  367: '5847 8261',
  377: '5443 5445 5824',
  379: '2976',
  384: '5876',
  391: '1674',
  400: '1492 2964 5693 6390 6444',
  401: '3584',
  415: '3520',
  416: '3529',
  426: '4036',
  434: '2598 3338',
  436: '5734',
  441: '7608 8232',
  451: '5732 7485',
  454: '6547 7638',
  457: '2015',
  470: '1686 2658 3011 6173',
  489: '1279 1442 1486 1525 1628 1685 1951 2653 4507 7416',
  497: '2778',
  501: '3318',
  502: '4066 4212 4434 4508 4510 4544 5135 5301 5766 5773 6985',
  521: '2115 4433',
  522: '1443 2647 6288 6472 6504',
  524: '7410',
  525: '5750',
  526: '5304',
  532: '2228 4805 5757 6648 6656 7610 7633 7636',
  537: '2084',
  538: '5691',
  539: '3332',
  547: '1313 5115',
  565: '2255 3331',
  582: '1873 2385',
  598: '3336',
  600: '1989',
  601: '5146 6105 7085',
  606: '6680',
  611: '2755 4435 6373 6374 6376',
  614: '2092',
  615: '2774',
  643: '2091 4817 8378',
  648: '3884',
  653: '6431 7081',
  668: '6329 6380 6382 6383 6409 6433 6470 7201',
  676: '5273',
  693: '3281 3334 3337 3355 6252 6364 6412 7039 7080 8349',
  732: '2612 6265 6270 6302 6304 6359 6469 7631',
  757: '6506',
  759: '2053',
  770: '6785 6864 6869 6870 6873 6892 6897',
  778: '6258 6413 6414',
  780: '2277',
  788: '3519',
  789: '6639',
  798: '2068 6263 6418 6437 6779 6781 7625 7639',
  807: '2089 2254 2608',
  829: '2611 3274 6474 6505 7023 7029 7637 7694',
  862: '2809 3369 5377',
  863: '5117',
  915: '4512 4531 4684',
  918: '4825 5144 6345 7044',
  922: '2817 3271 6358',
  925: '5322',
  926: '5594 7207',
  927: '5320 7206',
  942: '1465 1466 1468 5122',
  943: '5147',
  1004: '3330',
  1022: '5148',
  1104: '6500',
  1220: '6361',
  1321: '6108 6109',
  1329: '6497',
  1333: '2631 4784 5852',
  1336: '5496 7790',
  1352: '6343',
};

/** Rules of configuration alone: Dockerfiles, Terraform, CloudFormation, Azure Resource Manager, Ansible, workflows. */
const ofConfiguration = `6255 6258 6364 6375 6378 6379 6380 6381 6382 6383 6385 6387 6388 6400 6401 6402 6403 6404
    6405 6406 6407
    6408 6409 6410 6412 6413 6414 6428 6429 6430 6431 6433 6469 6470 6471 6472 6473 6497 6500 6502 6504 6648
    6656 6867 6868 7023 7029 7630 7631 7633 7634 7635 7636 7637 7638 8232 8233 8234 8262 8263 8264`;
/** Rules of Kubernetes alone. */
const ofKubernetes = '6864 6865 6869 6870 6873 6892 6897';
/** Rules that find secrets, each of one service. */
const ofSecrets = `6290 6292 6334-6338 6652 6684-6706 6708 6710 6713 6717-6723 6731-6733 6736-6739 6751-6753 6755
    6758 6760
    6762 6764-6765 6768-6769 6771 6773 6777 6782-6784 6910 6987-6990 6992-6993 6995 6997-7011 7013-7017 7022
    7024-7025 7136-7155 7159-7171 7174-7175 7199 7203 7209-7408 7525-7543 7549-7593 7601-7604 7791 8135-8136
    8214-8215 8217-8219 8350`;

const weaknessOf = Object.entries(numbers).map(([cwe, all]) => [cwe, all.split(/\s+/)] as const);

const read = (all: string): ReadonlySet<number> =>
  new Set(
    all.split(/\s+/).flatMap((piece) => {
      const [from = 0, to = from] = piece.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    }),
  );
const configuration = read(ofConfiguration);
const kubernetes = read(ofKubernetes);
const secrets = read(ofSecrets);
const security: ReadonlySet<number> = new Set([...weaknessOf.flatMap(([, all]) => all.map(Number)), ...secrets]);

/** Bugs that are weaknesses where memory is the programmer's: null, zero, what was never written. */
const ofNative = /^(?:c|cpp|objc|cfamily):S(?:836|2095|2259|3518|3807|5658)$/;

/** `S2068` of `java:S2068`, of `csharpsquid:S2068`, of `roslyn.sonaranalyzer.security.cs:S3649`. */
export const sonarRule = (rule: string): string => rule.replace(/^.*:/, '');

/** 0: it has none. */
const numberOf = (rule: string): number => Number(/^S(\d{2,5})$/.exec(sonarRule(rule))?.[1] ?? 0);

export const sonarSecurity: Pattern = {
  test: (rule) => security.has(numberOf(rule)) || ofNative.test(rule) || /vulnerab|hotspot/i.test(rule),
};
/** Bugs and code smells; of the plug-ins with named rules, the ones that are about style alone. */
export const sonarStyle: Pattern = {
  test: (rule) => {
    const number = numberOf(rule);
    if (number > 0) return number <= lastKnown && !security.has(number) && !ofNative.test(rule);
    return /^common-\w+:|^(?:Web|css|xml):\w+Check$/.test(rule);
  },
};

const isOf = (languages: string, own: ReadonlySet<number>): Pattern => {
  const prefix = new RegExp(`^(?:${languages}):`, 'i');
  return { test: (rule) => prefix.test(rule) || (/^S\d+$/.test(rule) && own.has(numberOf(rule))) };
};
export const isSonarSecret = isOf('secrets', secrets);
export const isSonarKubernetes = isOf('kubernetes|helm', kubernetes);
export const isSonarConfiguration = isOf(
  'docker|terraform|cloudformation|azureresourcemanager|ansible|githubactions|azurepipelines',
  configuration,
);

export const sonarWeaknesses: WeaknessTable = {
  ...Object.fromEntries(weaknessOf.map(([cwe, all]) => [cwe, all.map((one) => `S${one}`).join(' ')])),
  369: 'c:S3518 cpp:S3518 objc:S3518',
  457: 'S2015 c:S836 cpp:S836 objc:S836',
  469: 'c:S5658 cpp:S5658 objc:S5658',
  476: 'c:S2259 cpp:S2259 objc:S2259 c:S3807 cpp:S3807 objc:S3807',
  772: 'c:S2095 cpp:S2095 objc:S2095',
};
