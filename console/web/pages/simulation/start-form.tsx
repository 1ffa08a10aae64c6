// Which wave, against what, and how much of it.
import { createMemo, createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { simulationText as text } from '../../texts/engine/simulation.js';
import type { Run, Wave } from './words.js';

/** Names of the sites of an installation that has named none itself (UPSTREAM_CUSTOMER, UPSTREAM_PAYMENT). */
const sitesOfEnvironment = ['customer', 'payment'] as const;

interface Bound {
  readonly value: () => string;
  readonly set: (value: string) => void;
  readonly problem: () => string | null;
  /** undefined: nothing was written. */
  readonly number: () => number | undefined;
}

function createBound(max: number): Bound {
  const [value, set] = createSignal('');
  const number = (): number | undefined => (value().trim() === '' ? undefined : Number(value()));
  const problem = (): string | null => {
    const given = number();
    if (given === undefined || (Number.isInteger(given) && given >= 1 && given <= max)) return null;
    return text.notWhole('1', max.toLocaleString('en-GB'));
  };
  return { value, set, problem, number };
}

function Bounds(props: { readonly requests: Bound; readonly seconds: Bound; readonly rate: Bound }): JSX.Element {
  return (
    <details class="fold">
      <summary>{text.bounds}</summary>
      <div class="narrow-grid">
        <TextField
          label={text.requests}
          help={text.requestsHelp}
          value={props.requests.value()}
          onInput={props.requests.set}
          problem={props.requests.problem()}
        />
        <TextField
          label={text.seconds}
          unit={text.unitSeconds}
          help={text.secondsHelp}
          value={props.seconds.value()}
          onInput={props.seconds.set}
          problem={props.seconds.problem()}
        />
        <TextField
          label={text.rate}
          unit={text.unitRate}
          help={text.rateHelp}
          value={props.rate.value()}
          onInput={props.rate.set}
          problem={props.rate.problem()}
        />
      </div>
    </details>
  );
}

export function StartForm(props: {
  /** A wave that is to be sent again; null: none. */
  readonly from: { readonly type: Wave | null; readonly site: string | null };
  /** One that runs already; null: none. */
  readonly running: string | null;
  readonly onStarted: (run: Run) => void;
  readonly onShow: (id: string) => void;
}): JSX.Element {
  const sites = createQuery('GET /api/sites');
  const names = createMemo<readonly string[]>(() => {
    const known = sites.data()?.items.map(({ name }) => name);
    const served = known?.length === 0 ? sitesOfEnvironment : (known ?? []);
    return [...new Set([...(props.from.site === null ? [] : [props.from.site]), ...served])];
  });
  const [chosenType, setType] = createSignal<Wave | null>(null);
  const [chosenSite, setSite] = createSignal<string | null>(null);
  const type = (): Wave => chosenType() ?? props.from.type ?? 'sqli';
  const site = (): string => chosenSite() ?? props.from.site ?? names()[0] ?? '';
  const [requests, seconds, rate] = [createBound(2000), createBound(120), createBound(200)];
  const isFit = (): boolean => site() !== '' && [requests, seconds, rate].every(({ problem }) => problem() === null);
  const action = createAction();
  const start = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!isFit()) return;
    const bounds = { requests: requests.number(), seconds: seconds.number(), rate: rate.number() };
    const given = Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
    const body = { type: type(), site: site(), ...given };
    void action.run(async () => props.onStarted(await call('POST /api/ai/simulate', { body })));
  };
  return (
    <Card title={text.start}>
      <form class="stack" onSubmit={start}>
        <div class="narrow-grid">
          <SelectField
            label={text.wave}
            value={type()}
            options={Object.entries(text.waves) as [Wave, string][]}
            help={text.waveHelp[type()]}
            onChange={setType}
          />
          <SelectField
            label={text.site}
            value={site()}
            options={names().map((name) => [name, name] as const)}
            from={sites}
            help={text.siteHelp}
            onChange={setSite}
          />
        </div>
        <Bounds requests={requests} seconds={seconds} rate={rate} />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show when={props.running}>
          {(id) => (
            <Notice tone="info">
              <span>{text.oneAtATime}</span>
              <div>
                <Button isSmall onClick={() => props.onShow(id())}>
                  {text.showIt}
                </Button>
              </div>
            </Notice>
          )}
        </Show>
        <div>
          <Button
            type="submit"
            look="primary"
            icon="play"
            isBusy={action.isBusy()}
            disabled={!isFit() || props.running !== null}
          >
            {text.startIt}
          </Button>
        </div>
      </form>
    </Card>
  );
}
