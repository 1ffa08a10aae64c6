// What the scanners look for, and what to do about each.
import { For, Show, type JSX } from 'solid-js';
import { createQuery, type QueryState } from '../../client/query.js';
import type { Reply } from '../../client/http.js';
import { Badge, Card } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { scansText as text } from '../../texts/vm/sources/scans.js';
import { severityTone } from '../vulnerabilities/words.js';

type Answer = Reply<'GET /api/v1/secrets/detectors'>;
/** Checks of running applications are known under no other name. */
type Answers = Answer | Reply<'GET /api/v1/scans/checks'>;

function OfScanner(props: { readonly title: string; readonly of: QueryState<Answers> }): JSX.Element {
  return (
    <Card title={props.title}>
      <Read of={props.of}>
        {(answer) => (
          <div class="stack">
            <For each={answer().items}>
              {(rule) => (
                <section class="stack tight" id={rule.id}>
                  <h3>
                    <Badge tone={severityTone(rule.severity)}>{rule.severity}</Badge> {rule.title}
                  </h3>
                  <p>{rule.description}</p>
                  <p>
                    {text.mend}: {rule.remediation}
                  </p>
                  <p class="small faint mono">
                    {rule.id}
                    <Show when={'known_as' in rule && rule.known_as.length > 0 ? rule.known_as : null}>
                      {(names) => ` · ${text.knownAs} ${names().join(', ')}`}
                    </Show>
                  </p>
                </section>
              )}
            </For>
          </div>
        )}
      </Read>
    </Card>
  );
}

export function Rules(): JSX.Element {
  const secrets = createQuery('GET /api/v1/secrets/detectors');
  const sast = createQuery('GET /api/v1/sast/rules');
  const iac = createQuery('GET /api/v1/iac/rules');
  const k8s = createQuery('GET /api/v1/k8s-posture/controls');
  const active = createQuery('GET /api/v1/scans/checks');
  return (
    <>
      <OfScanner title={text.kinds.active} of={active} />
      <OfScanner title={text.kinds.secrets} of={secrets} />
      <OfScanner title={text.kinds.sast} of={sast} />
      <OfScanner title={text.kinds.iac} of={iac} />
      <OfScanner title={text.kinds.k8s} of={k8s} />
    </>
  );
}
