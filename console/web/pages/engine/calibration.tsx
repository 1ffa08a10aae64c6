// How far verdicts can be trusted: precision and recall of each rung with their intervals, from waves that were sent
// here and verdicts that people judged. Where few cases are known it says so, and shows no figure.
import { A, useSearchParams } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, Figure, Foreign, Notice } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { calibrationText as text } from '../../texts/engine/calibration.js';
import { engineText } from '../../texts/engine/engine.js';
import { simulationText } from '../../texts/engine/simulation.js';
import { intervalOf, percentOf, type Share } from './share.js';
import { rungTones } from './words.js';

type Calibration = Reply<'GET /api/ai/calibration'>;
type Rung = Calibration['rungs'][number];
type Wave = Calibration['waves'][number];
type Band = Calibration['reliability'][number];
type Days = keyof typeof text.windows;

const daysUsual: Days = '30';

/** A share as a picture and in words: the bar is the interval, the mark the share itself. */
function ShareTold(props: { readonly of: Share }): JSX.Element {
  return (
    <div class="share">
      <svg class="interval" aria-hidden="true">
        <rect class="is-track" width="100%" height="100%" rx="3" />
        <Show when={props.of.low !== null && props.of.high !== null}>
          <rect
            class={props.of.enough ? 'is-range' : 'is-range is-weak'}
            x={`${100 * (props.of.low ?? 0)}%`}
            width={`${100 * Math.max(0.005, (props.of.high ?? 0) - (props.of.low ?? 0))}%`}
            height="100%"
          />
        </Show>
        <Show when={props.of.value !== null}>
          <line
            class="is-value"
            x1={`${100 * (props.of.value ?? 0)}%`}
            x2={`${100 * (props.of.value ?? 0)}%`}
            y1="0"
            y2="100%"
          />
        </Show>
      </svg>
      <span>
        <Show when={props.of.value !== null} fallback={<span class="muted">{props.of.note || text.noCase}</span>}>
          <strong class="nums">{engineText.percent(percentOf(props.of.value ?? 0))}</strong>
        </Show>
      </span>
      <Show when={props.of.of > 0}>
        <span class="small faint">
          {text.casesOf(showCount(props.of.hits), showCount(props.of.of))}; {intervalOf(props.of)}
        </span>
      </Show>
    </div>
  );
}

const rungColumns: readonly TableColumn<Rung>[] = [
  {
    title: text.rung,
    cell: ({ rung }) => <Badge tone={rungTones[rung]}>{engineText.rungs[rung]}</Badge>,
  },
  { title: text.precision, class: 'share-cell', cell: ({ precision }) => <ShareTold of={precision} /> },
  { title: text.recall, class: 'share-cell', cell: ({ recall }) => <ShareTold of={recall} /> },
];

const bandColumns: readonly TableColumn<Band>[] = [
  { title: text.risk, class: 'nums', cell: ({ from, to }) => text.riskOf(from, to) },
  { title: text.attackers, class: 'share-cell', cell: ({ attacks }) => <ShareTold of={attacks} /> },
];

const waveName = (wave: string): string => (simulationText.waves as Readonly<Record<string, string>>)[wave] ?? wave;

const waveColumns = (rungs: readonly Rung[]): readonly TableColumn<Wave>[] => [
  { title: text.wave, cell: ({ wave }) => <Foreign text={waveName(wave)} max={80} /> },
  { title: text.clients, isNumber: true, sortBy: ({ clients }) => clients, cell: ({ clients }) => showCount(clients) },
  ...rungs.map(
    ({ rung }): TableColumn<Wave> => ({
      title: text.reached(engineText.rungs[rung]),
      isNumber: true,
      sortBy: ({ reached }) => reached[rung] ?? 0,
      cell: ({ reached }) => showCount(reached[rung] ?? 0),
    }),
  ),
];

const knownIn = ({ evidence }: Calibration): number =>
  evidence.simulated_clients + evidence.marked_attack + evidence.marked_false_positive;

function Evidence(props: { readonly of: Calibration['evidence'] }): JSX.Element {
  return (
    <div class="grid-4">
      <Figure
        label={text.simulated}
        value={showCount(props.of.simulated_clients)}
        note={text.ofWaves(showCount(props.of.simulations))}
      />
      <Figure label={text.markedAttack} value={showCount(props.of.marked_attack)} note={text.markedNote} />
      <Figure label={text.markedFalse} value={showCount(props.of.marked_false_positive)} note={text.markedNote} />
      <Figure label={text.needed} value={showCount(props.of.needed)} note={text.neededNote} />
    </div>
  );
}

/** While the engine is off a wave would be no evidence: none is asked for. */
function NothingKnown(props: { readonly isOn: boolean }): JSX.Element {
  return (
    <Card>
      <Empty title={text.nothingKnown}>
        <Show when={props.isOn} fallback={<p>{text.nothingKnownOff}</p>}>
          <p>{text.nothingKnownAbout}</p>
          <A class="button" href="/engine/simulation">
            {engineText.simulate}
          </A>
        </Show>
      </Empty>
    </Card>
  );
}

function Tables(props: { readonly of: Calibration }): JSX.Element {
  const bands = (): readonly Band[] => props.of.reliability.filter(({ attacks }) => attacks.of > 0);
  return (
    <>
      <Card isFlush title={text.byRung}>
        <p class="body muted small">{text.byRungAbout}</p>
        <Table
          label={text.byRung}
          columns={rungColumns}
          of={ofRows(() => props.of.rungs)}
          keyOf={({ rung }) => rung}
          empty={text.nothingKnown}
        />
      </Card>
      <Card isFlush title={text.reliability}>
        <p class="body muted small">{text.reliabilityAbout}</p>
        <Table
          label={text.reliability}
          columns={bandColumns}
          of={ofRows(bands)}
          keyOf={({ from }) => String(from)}
          empty={text.nothingKnown}
        />
      </Card>
      <Card isFlush title={text.waves}>
        <Table
          label={text.waves}
          columns={waveColumns(props.of.rungs)}
          of={ofRows(() => props.of.waves)}
          keyOf={({ wave }) => wave}
          empty={text.noWaves}
        />
      </Card>
    </>
  );
}

export function CalibrationPanel(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const days = (): Days => {
    const { days: given } = search;
    return typeof given === 'string' && Object.hasOwn(text.windows, given) ? (given as Days) : daysUsual;
  };
  const calibration = createQuery('GET /api/ai/calibration', () => ({ query: { days: Number(days()) } }));
  return (
    <>
      <p class="muted">{text.about}</p>
      <div class="narrow-grid">
        <SelectField
          label={text.window}
          value={days()}
          options={Object.entries(text.windows) as [Days, string][]}
          onChange={(value) => setSearch({ days: value })}
        />
      </div>
      <Read of={calibration}>
        {(data) => (
          <>
            <Show when={!data().enabled}>
              <Notice tone="info" title={engineText.off}>
                <span>{text.offAbout}</span>
                <A href="/admin/settings/engine#ai_enabled">{engineText.switchOn}</A>
              </Notice>
            </Show>
            <Evidence of={data().evidence} />
            <Show when={knownIn(data()) > 0} fallback={<NothingKnown isOn={data().enabled} />}>
              <Tables of={data()} />
            </Show>
            <p class="small faint">{text.since(showMoment(data().since))}</p>
          </>
        )}
      </Read>
    </>
  );
}
