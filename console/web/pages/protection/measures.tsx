// Everything that was decided about clients by any source: one list with filters, and the way back of each.
import { A, useSearchParams } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { call, Refused, type Item, type Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { measuresText as text } from '../../texts/resources/measures.js';
import { nameOfKey } from '../engine/words.js';

type Measure = Item<'GET /api/measures'>;
type Asked = Query<'GET /api/measures'>;

const tones = { active: 'danger', ended: 'neutral', lifted: 'good' } as const;
const choices = <Name extends string>(all: string, words: Readonly<Record<Name, string>>) =>
  [['', all], ...(Object.entries(words) as [Name, string][])] as readonly (readonly [Name | '', string])[];

/** Filters that stand in the address, so that a view can be linked. */
const names = ['q', 'action', 'source', 'kind', 'state'] as const;
type Name = (typeof names)[number];

function Filters(props: {
  readonly of: (name: Name) => string;
  readonly onChange: (name: Name, value: string) => void;
}) {
  const select = <Value extends string>(name: Name, label: string, options: readonly (readonly [Value, string])[]) => (
    <SelectField
      label={label}
      value={props.of(name) as Value}
      options={options}
      onChange={(value) => props.onChange(name, value)}
    />
  );
  return (
    <div class="row wrap" role="search">
      <TextField
        label={text.subject}
        value={props.of('q')}
        placeholder={text.beginning}
        onInput={(value) => props.onChange('q', value)}
      />
      {select('action', text.action, choices(text.everyAction, text.actionNames))}
      {select('source', text.source, choices(text.everySource, text.sources))}
      {select('kind', text.kind, choices(text.everyKind, text.kinds))}
      {select('state', text.state, [...Object.entries(text.states), ['all', text.everyState] as const])}
    </div>
  );
}

/** Where is shown what such clients did: in events, or in what the detection engine remembers. */
function historyOf({ subject, kind }: Measure): string {
  const value = encodeURIComponent(subject.slice(subject.indexOf(':') + 1));
  if (kind === 'country' || kind === 'asn') return `/soc?${kind}=${value}`;
  return kind === 'principal'
    ? `/engine?view=history&address=${encodeURIComponent(subject)}`
    : `/soc?client_ip=${encodeURIComponent(subject.split('/')[0] ?? '')}`;
}

const Whom = (one: Measure): JSX.Element => (
  <A class="mono" href={historyOf(one)}>
    {nameOfKey(one.subject)}
  </A>
);

/** Of a country or autonomous system: how much of it is in force, or why nothing is. */
function InForce(props: { readonly of: Measure }): JSX.Element {
  const isPlace = (): boolean => props.of.kind === 'country' || props.of.kind === 'asn';
  const count = (): number | null => props.of.networks;
  return (
    <Show when={props.of.state === 'active' && isPlace()}>
      <span class="small faint">{count() === null ? text.networksToCome : text.networksInForce(count() ?? 0)}</span>
      <Show when={props.of.problem}>{(problem) => <Foreign text={problem()} max={300} />}</Show>
    </Show>
  );
}

/** The reason; of an automatic ban also the request that crossed the line, and the bans that made it longer. */
function Why(props: { readonly of: Measure }): JSX.Element {
  return (
    <div class="stack tight">
      <Foreign text={props.of.reason} max={300} />
      <InForce of={props.of} />
      <Show when={props.of.evidence}>
        {(evidence) => (
          <span class="row wrap small">
            <Foreign
              text={text.limitedWithin(
                evidence().threshold,
                evidence().window_seconds,
                evidence().zone,
                evidence().node,
              )}
              max={200}
            />
            <A href={`/soc?request_id=${evidence().request_id}`}>{text.itsRequest}</A>
            <Show when={evidence().offence > 1}>
              <A href={`/protection/addresses?state=all&source=auto-ban&q=${encodeURIComponent(props.of.subject)}`}>
                {text.bansBefore(evidence().offence - 1)}
              </A>
            </Show>
          </span>
        )}
      </Show>
    </div>
  );
}

const Added = (one: Measure): JSX.Element => (
  <>
    {showMoment(one.added_at)}{' '}
    <span class="faint">
      <Foreign text={one.added_by} max={60} />
    </span>
  </>
);

const Ends = (one: Measure): JSX.Element => {
  const end = one.lifted_at ?? one.expires_at;
  return (
    <>
      {end === null ? text.never : showMoment(end)}
      <Show when={one.lifted_by}>
        {(who) => (
          <div class="small faint">
            <Foreign text={text.liftedBy(who())} max={80} />
          </div>
        )}
      </Show>
    </>
  );
};

const columnsOf = (onLift: (one: Measure) => void): readonly TableColumn<Measure>[] => [
  { title: text.subject, sortBy: (one) => one.subject, cell: Whom },
  { title: text.action, cell: (one) => <Badge tone="warn">{text.actionNames[one.action]}</Badge> },
  { title: text.source, sortBy: (one) => one.source, cell: (one) => text.sources[one.source] },
  { title: text.state, cell: (one) => <Badge tone={tones[one.state]}>{text.states[one.state]}</Badge> },
  { title: text.why, class: 'reasons', cell: (one) => <Why of={one} /> },
  { title: text.added, class: 'nums', sortBy: (one) => one.added_at, cell: Added },
  { title: text.ends, class: 'nums', sortBy: (one) => one.lifted_at ?? one.expires_at, cell: Ends },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (one) => (
      <Show when={one.state === 'active' && mayAs('operator')}>
        <Button isSmall onClick={() => onLift(one)}>
          {text.lift}
        </Button>
      </Show>
    ),
  },
];

/** `onList` gets what reads the list again. */
export function Measures(props: { readonly onList: (reload: () => void) => void }): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const of = (name: Name): string => {
    const value = search[name];
    return typeof value === 'string' ? value : name === 'state' ? 'active' : '';
  };
  const asked = (): Asked =>
    Object.fromEntries(names.flatMap((name) => (of(name) === '' ? [] : [[name, of(name)]]))) as Asked;
  const list = createPagedList('GET /api/measures', asked);
  props.onList(list.reload);
  const lift = async ({ subject, source, action }: Measure): Promise<void> => {
    try {
      await call('DELETE /api/measures', { query: { subject, source, action } });
      tell(text.lifted(nameOfKey(subject)));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  return (
    <>
      <Filters of={of} onChange={(name, value) => setSearch({ [name]: value }, { replace: true })} />
      <Card isFlush>
        <Table
          label={text.measures}
          columns={columnsOf((one) => void lift(one))}
          of={ofPages(list)}
          keyOf={(one) => `${one.subject} ${one.source} ${one.action} ${one.added_at}`}
          empty={text.none}
          emptyAbout={text.noneAbout}
        />
      </Card>
    </>
  );
}
