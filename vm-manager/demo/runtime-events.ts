// What sensors in the made-up applications saw: attempts that were stopped, and some that reached a place which the
// code scanner had named. Those prove its findings, so that some chains are dangerous and not only possible.

/** As a sensor sends it, but for the application and the moment. */
export interface DemoEvent {
  readonly sensor_id: string;
  readonly event_id: string;
  readonly attack_type: string;
  readonly confirmed: boolean;
  readonly action: 'observed' | 'blocked';
  readonly method: string;
  readonly route: string;
  readonly file?: string;
  readonly line?: number;
  readonly sink?: string;
  readonly proof: Readonly<Record<string, string>>;
  /** Before the data was made. */
  readonly minutes_ago: number;
}

/** Weaknesses of the demo's code scanner that a sensor can see, and what reaches them. */
const provable: Readonly<Record<string, { readonly type: string; readonly sink: string; readonly value: string }>> = {
  'sql-from-input': { type: 'sql_injection', sink: 'database.query', value: "17' or '1'='1" },
  'url-from-input': { type: 'ssrf', sink: 'http.get', value: 'http://10.0.0.5/status' },
  'command-from-input': { type: 'command_injection', sink: 'child_process.exec', value: 'a.png; id' },
  'path-from-input': { type: 'path_traversal', sink: 'fs.readFile', value: '../../config/local.env' },
};

interface Result {
  readonly ruleId: string;
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region: { readonly startLine: number };
    };
  }[];
}

const provenMax = 3;
const attempts = 6;
const minutesOfAWeek = 7 * 24 * 60;

/** Of an application with a sensor, by the report of its code scanner. */
export function createEvents(application: string, sarif: string, upTo: (most: number) => number): DemoEvent[] {
  const { runs } = JSON.parse(sarif) as { readonly runs: readonly { readonly results: readonly Result[] }[] };
  const reached = (runs[0]?.results ?? []).filter(({ ruleId }) => provable[ruleId] !== undefined).slice(0, provenMax);
  const sensor = `${application.replace(/ /g, '-')}-1`;
  const proven = reached.map(({ ruleId, locations }, index): DemoEvent => {
    const { type = '', sink = '', value = '' } = provable[ruleId] ?? {};
    const place = locations[0]?.physicalLocation;
    return {
      sensor_id: sensor,
      event_id: `${sensor}-proven-${index}`,
      attack_type: type,
      confirmed: true,
      action: 'observed',
      method: 'GET',
      route: `/${application.replace(/ /g, '-')}/${index}`,
      file: place?.artifactLocation.uri ?? '',
      line: place?.region.startLine ?? 1,
      sink,
      proof: { parameter: 'q', value, sink },
      minutes_ago: 10 + upTo(minutesOfAWeek),
    };
  });
  const stopped = Array.from({ length: attempts }, (_, index): DemoEvent => {
    const [type, value] = index % 2 === 0 ? ['xss', '<b onclick=a()>'] : ['path_traversal', '../../../etc/passwd'];
    return {
      sensor_id: sensor,
      event_id: `${sensor}-stopped-${index}`,
      attack_type: type ?? '',
      confirmed: false,
      action: 'blocked',
      method: 'GET',
      route: `/${application.replace(/ /g, '-')}/items`,
      proof: { parameter: 'name', value: value ?? '' },
      minutes_ago: 10 + upTo(minutesOfAWeek),
    };
  });
  return [...proven, ...stopped];
}
