// The security of APIs: posture, operations, specifications, and tests of access with their matrix.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, Refused, type Item, type Query } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Button, Card, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { placeOf } from './place.js';
import { apiSecurityText as text } from '../../texts/vm/sources/api-security.js';
import { createApplications } from '../vulnerabilities/words.js';
import { Specifications } from './specifications.js';
import { Tests } from './tests.js';

type Operation = Item<'GET /api/v1/api-security/endpoints'>;
type Filter = Omit<Query<'GET /api/v1/api-security/endpoints'>, 'limit' | 'offset'>;

const findingsOf = ({ open_findings: open }: Operation): string =>
  open === null ? '–' : open.worst === null ? '0' : `${showCount(open.total)} (${open.worst})`;

const columns: readonly TableColumn<Operation>[] = [
  { title: text.operation, cell: (one) => <Foreign text={`${one.method} ${one.template}`} max={160} /> },
  { title: text.site, cell: (one) => <Foreign text={placeOf(one)} max={60} /> },
  { title: text.state, cell: ({ state }) => text.states[state] },
  { title: text.auth, cell: ({ auth }) => text.auths[auth] },
  { title: text.data, cell: ({ classification }) => classification ?? '–' },
  { title: text.risk, isNumber: true, cell: ({ risk }) => risk.toFixed(1) },
  { title: text.findings, cell: findingsOf },
  { title: text.hits, isNumber: true, cell: ({ hits }) => showCount(hits) },
];

function Posture(props: { readonly application: string; readonly mayEdit: boolean }): JSX.Element {
  const posture = createQuery('GET /api/v1/api-security/posture', () => ({
    query: props.application === '' ? {} : { application_id: props.application },
  }));
  const action = createAction();
  const [isAsked, setAsked] = createSignal(false);
  const keep = (confirmed: boolean) =>
    action.run(async () => {
      setAsked(false);
      const body = { application_id: props.application, ...(confirmed ? { confirm_close: true } : {}) };
      try {
        const { gaps } = await call('POST /api/v1/api-security/posture', { body });
        tell(text.kept(gaps));
      } catch (error) {
        setAsked(error instanceof Refused && error.errors.some(({ path }) => path === 'confirm_close'));
        throw error;
      }
    });
  return (
    <Card title={text.coverage}>
      <Read of={posture}>
        {(now) => (
          <div class="stack tight">
            <p>
              {now().coverage_percent === null
                ? now().endpoints === 0
                  ? ''
                  : text.uncovered
                : text.covered(now().observed, now().documented, `${now().coverage_percent} %`)}
            </p>
            <Show when={now().endpoints + now().documented > 0} fallback={<p>{text.nothingKnown}</p>}>
              <p>{text.gaps(now().high, now().medium, now().low)}</p>
              <p>{text.odd(now().shadow, now().zombie)}</p>
            </Show>
            <For
              each={now()
                .sites.filter(({ hint }) => hint !== null)
                .slice(0, 5)}
            >
              {({ hint }) => <Foreign text={hint ?? ''} max={300} />}
            </For>
            <Show when={props.mayEdit && props.application !== ''}>
              <div>
                <Button isBusy={action.isBusy()} onClick={() => void keep(isAsked())}>
                  {isAsked() ? text.keepAll : text.keep}
                </Button>
              </div>
            </Show>
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
          </div>
        )}
      </Read>
    </Card>
  );
}

function Lines(props: { readonly title: string; readonly of: readonly string[] }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{props.title}</h3>
      <For each={props.of} fallback={<p class="muted">{text.nothing}</p>}>
        {(one) => <Foreign text={one} max={300} />}
      </For>
    </section>
  );
}

function OperationView(props: { readonly id: string }): JSX.Element {
  const operation = createQuery('GET /api/v1/api-security/endpoints/{id}', () => ({ params: { id: props.id } }));
  return (
    <Read of={operation}>
      {(one) => (
        <div class="stack">
          <Foreign text={`${one().method} ${one().template}`} max={300} />
          <Lines
            title={text.findings}
            of={(one().findings ?? []).map(({ id, severity, title }) => `${id} ${severity} ${title}`)}
          />
          <Lines title={text.risk} of={one().risk_parts.map(({ points, why }) => `${points}: ${why}`)} />
          <Lines
            title={text.samples}
            of={one().samples.map(({ at, status, uri, client }) => `${showMoment(at)} ${status} ${uri} ${client}`)}
          />
          <Lines title={text.callers} of={one().callers.map(({ client, requests }) => `${client}: ${requests}`)} />
          <Lines
            title={text.wafHits}
            of={one().waf_hits.map((hit) => `${showMoment(hit.at)} ${hit.verdict} ${hit.rule_id ?? ''} ${hit.uri}`)}
          />
        </div>
      )}
    </Read>
  );
}

export function ApiSecurity(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const [application, setApplication] = createSignal('');
  const [words, setWords] = createSignal('');
  const [state, setState] = createSignal('');
  const list = createPagedList('GET /api/v1/api-security/endpoints', () => {
    const of = application() === '' ? {} : { application_id: application() };
    const q = words() === '' ? {} : { q: words() };
    return { ...of, ...q, ...(state() === '' ? {} : { state: [state()] }) } as Filter;
  });
  const [chosen, choose] = createChosen('operation');
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <div class="grid-2">
        <SelectField
          label={text.application}
          value={application()}
          options={applications.options(text.anyApplication)}
          onChange={setApplication}
        />
        <SelectField
          label={text.state}
          value={state()}
          options={[['', text.anyState], ...Object.entries(text.states)]}
          onChange={setState}
        />
        <TextField label={text.words} value={words()} onInput={setWords} />
      </div>
      <Posture application={application()} mayEdit={access.may('edit_api_security')} />
      <ListCard
        label={text.operations}
        title={text.operations}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.none}
        emptyAbout={text.noneAbout}
      />
      <Specifications application={application()} mayEdit={access.may('edit_api_security')} />
      <Tests mayRun={access.may('run_scans')} />
      <Overlay isOpen={chosen() !== null} look="wide" title={text.operation} onClose={() => choose(null)}>
        <Show when={chosen()} keyed>
          {(id) => <OperationView id={id} />}
        </Show>
      </Overlay>
    </>
  );
}
