// The components of one application beside the advisories, asked for by hand: what held, and what nobody can tell.
import { A } from '@solidjs/router';
import { createEffect, createSignal, For, on, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { componentsText as text } from '../../texts/vm/sources/components.js';
import { ImportCounts, type ImportReport } from '../vulnerabilities/import/counts.js';

/** As `POST /sca/match` reports it, beside what every import says. */
interface MatchReport extends ImportReport {
  readonly components?: number;
  readonly matches?: number;
  readonly not_comparable?: { readonly total: number };
}

interface Matched {
  readonly applicationId: string;
  readonly report: MatchReport;
}

export interface Matching {
  readonly isBusy: () => boolean;
  readonly problem: () => string | null;
  readonly result: () => Matched | null;
  start(): Promise<void>;
}

/** What came of it belongs to one application: another choice takes it away. */
export function createMatching(application: () => string, onMatched: () => void): Matching {
  const action = createAction();
  const [result, setResult] = createSignal<Matched | null>(null);
  createEffect(on(application, () => setResult(null), { defer: true }));
  return {
    isBusy: action.isBusy,
    problem: action.problem,
    result,
    async start() {
      const applicationId = application();
      const isDone = await action.run(async () => {
        const { report } = await call('POST /api/v1/sca/match', { body: { application_id: applicationId } });
        if (application() === applicationId) setResult({ applicationId, report: report as MatchReport });
      });
      if (isDone) onMatched();
    },
  };
}

export function MatchButton(props: { readonly of: Matching; readonly application: string }): JSX.Element {
  return (
    <Button
      look="primary"
      isBusy={props.of.isBusy()}
      disabled={props.application === ''}
      title={props.application === '' ? text.matchHelp : undefined}
      onClick={() => void props.of.start()}
    >
      {text.match}
    </Button>
  );
}

/** Components of which nobody can say whether an advisory holds: they are neither findings nor the end of one. */
function Undecided(props: { readonly of: MatchReport }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.notComparable(showCount(props.of.not_comparable?.total ?? 0))}</h3>
      <ul class="code">
        <For each={props.of.problems}>
          {({ at, detail }) => (
            <li>
              <Foreign text={`${at}: ${detail}`} max={500} />
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

export function MatchOutcome(props: { readonly of: Matching }): JSX.Element {
  return (
    <>
      <Show when={props.of.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={props.of.result()}>
        {(done) => (
          <Notice
            tone={(done().report.matches ?? 0) > 0 ? 'warn' : 'good'}
            title={text.matched(showCount(done().report.components ?? 0), showCount(done().report.matches ?? 0))}
          >
            <span>{text.matchedAbout}</span>
            <ImportCounts of={{ ...done().report, problems: [] }} />
            <Show when={(done().report.problems ?? []).length > 0}>
              <Undecided of={done().report} />
            </Show>
            <div class="row wrap">
              <A href={`/vulnerabilities?application_id=${done().applicationId}&source=sca`}>{text.seeFindings}</A>
              <A href="/vulnerabilities/exploits?view=lists">{text.noAdvisories}</A>
            </div>
          </Notice>
        )}
      </Show>
    </>
  );
}
