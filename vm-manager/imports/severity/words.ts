// Severity words of tools and people, as data. A word is listed only where its meaning does not depend on the tool;
// scales of one tool stand in `toolScales`. Words are compared in the form that `foldWord` gives them.
import type { Severity } from '../../findings/words.js';

/** Case, accents, punctuation and repeated spaces do not tell words apart. */
export const foldWord = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[\s_/-]+/g, ' ')
    .replace(/^[^\p{L}\p{N}?]+|[^\p{L}\p{N}?]+$/gu, '');

const listed: Readonly<Record<Severity, string>> = {
  critical: `critical, crit, blocker, fatal, emergency, emerg, alert, catastrophic, disaster,
    c, urgent, extreme, showstopper, show stopper,
    very high, highest, kritisch, sehr hoch, critique, tres eleve, critico, critica, muy alto,
    muy alta, muito alto, kritiek,
    krytyczny, krytyczna, kritisk, kriticka, kriticky, kritik, критический, критическая, критичный,
    критична, 严重, 嚴重,
    超危, 紧急, 緊急, 致命, 致命的, 重大, 심각, 치명적, 긴급`,
  high: `high, hi, h, error, err, major, important, severe, severo, severa, mayor, serious, grave, elevated, hoch,
    schwer, schwerwiegend, eleve,
    elevee, haut, haute, majeur, majeure, alto, alta, elevado, elevada, elevato, elevata, hoog,
    ernstig, wysoki, wysoka,
    hog, hoj, høj, høy, vysoka, vysoky, yuksek, высокий, высокая, высокое, високий, 高, 高危, 高い, 重要,
    높음`,
  medium: `medium, med, m, moderate, mod, middle, normal, average, warning, warn, mittel,
    mittelschwer, warnung, moyen,
    moyenne, modere, moderee, avertissement, medio, media, moderado, moderada, moderato, moderata,
    advertencia, aviso,
    gemiddeld, midden, sredni, srednia, średni, medel, middel, middels, stredni, orta, средний,
    средняя, среднее,
    середній, 中, 中危, 中等, 警告, 중간, 보통`,
  low: `low, lo, l, minor, menor, note, notice, minimal, trivial, lowest, very low, niedrig, gering, leicht,
    sehr niedrig,
    hinweis, faible, bas, basse, mineur, mineure, bajo, baja, baixo, baixa, leve, basso, bassa,
    lieve, laag, niski, niska, lag,
    lav, nizka, nizky, dusuk, низкий, низкая, низкое, низький, 低, 低危, 低い, 낮음`,
  info: `info, i, unimportant, information, informational, informative, informationell, negligible, inventory,
    experiment, debug,
    cosmetic, style, hint, advice, informatif, information seule, informativo, informativa,
    informacion, informacao,
    informazione, informatie, informacyjny, bilgi, информация, информационный, 信息, 情報, 정보`,
};

/** Levels of priority and of incidents: the lower number is the graver one in all of them. */
const levels: readonly Severity[] = ['critical', 'critical', 'high', 'medium', 'low', 'info'];

/** Categories of the DISA STIGs, which their checklists rate high, medium and low. */
const categories: readonly (readonly [string, Severity])[] = [
  ['i', 'high'],
  ['ii', 'medium'],
  ['iii', 'low'],
  ['1', 'high'],
  ['2', 'medium'],
  ['3', 'low'],
];

export const severityOfWord: ReadonlyMap<string, Severity> = new Map([
  ...categories.flatMap(([number, severity]) =>
    ['cat ', 'cat', 'category '].map((name) => [`${name}${number}`, severity] as const),
  ),
  ...Object.entries(listed).flatMap(([severity, words]) =>
    words.split(',').map((word) => [foldWord(word), severity as Severity] as const),
  ),
  ...levels.flatMap((severity, level) =>
    ['p', 's', 'p ', 's ', 'sev', 'sev ', 'prio', 'prio ', 'priority '].map(
      (letter) => [`${letter}${level}`, severity] as const,
    ),
  ),
]);

/** Words by which a tool or a person says that nobody has rated it. */
export const unratedWords: ReadonlySet<string> = new Set(
  `none, null, nil, undefined, unknown, unrated, not rated, unscored, unassigned, unspecified,
    unclassified, untriaged,
  not triaged, pending, tbd, na, n a, not applicable, not available, nan, ?, unbekannt, inconnu,
    desconocido, 未知`
    .split(',')
    .map(foldWord),
);

/** A scale whose own definition gives words or numbers another meaning than the common one. */
export type SeverityScale = Readonly<Record<string, Severity>>;

export const toolScales = {
  /** SARIF 2.1.0, 3.27.10. */
  sarif: { error: 'high', warning: 'medium', note: 'low', none: 'info' },
  /** Of CVSS, and of bills that take its words (CycloneDX): "none" is the score 0. */
  cvss: { none: 'info' },
  /** Semgrep's own documentation calls ERROR, WARNING and INFO high, medium and low. */
  semgrep: { error: 'high', warning: 'medium', info: 'low', inventory: 'info', experiment: 'info' },
  /** Cppcheck's manual; what is no error and no warning is no weakness. */
  cppcheck: {
    error: 'high',
    warning: 'medium',
    style: 'low',
    performance: 'low',
    portability: 'low',
    information: 'info',
    debug: 'info',
  },
  /** Flawfinder's risk levels, as its own SARIF rates them. */
  flawfinder: { '0': 'info', '1': 'low', '2': 'low', '3': 'medium', '4': 'high', '5': 'high' },
  /** ShellCheck and what writes its lines: as SARIF does. */
  linter: {
    'fatal error': 'high',
    error: 'high',
    warning: 'medium',
    note: 'low',
    info: 'low',
    style: 'low',
    ignore: 'info',
  },
  /** Wapiti's levels, the higher is the graver. */
  wapiti: { '0': 'info', '1': 'low', '2': 'medium', '3': 'high', '4': 'critical' },
  /** Nessus: plugins that only tell something have the risk None. */
  nessus: { none: 'info' },
  /** OpenVAS and Greenbone: results that only tell something are a log. */
  openvas: { log: 'info' },
  /** ZAP: riskcode, the higher is the graver. */
  zap: { '0': 'info', '1': 'low', '2': 'medium', '3': 'high' },
} as const satisfies Readonly<Record<string, SeverityScale>>;

/** Tools whose words mean something of their own, by columns of a CSV that they have together. */
const toolColumns: readonly (readonly [SeverityScale, readonly string[]])[] = [
  [toolScales.nessus, ['plugin_id', 'risk']],
  [toolScales.openvas, ['nvt_oid', 'severity']],
  [toolScales.openvas, ['nvt_name', 'severity']],
];

export const scaleOfColumns = (columns: readonly string[]): SeverityScale | undefined =>
  toolColumns.find(([, names]) => names.every((name) => columns.includes(name)))?.[0];
