// What the scanners look for, and what to do about each; which of it counts.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { createQuery, type QueryState } from '../../client/query.js';
import { call, type Reply } from '../../client/http.js';
import type { VmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { allowedText } from '../../texts/vm/records/deduplications.js';
import { codeRulesText } from '../../texts/vm/sources/code-rules.js';
import { scansText as text } from '../../texts/vm/sources/scans.js';
import { createApplications, severityTone } from '../vulnerabilities/words.js';
import { AllowedSecrets } from './allowed.js';
import { AllowSecret, OwnRule, TryRule } from './own-rules.js';

type Answer = Reply<'GET /api/v1/secrets/detectors'>;
type Rule = Answer['items'][number];
type Change = {
  readonly enabled?: boolean | null;
  readonly severity?: Rule['severity'] | null;
  readonly reason?: string;
};
/** Checks of running applications are known under no other name, and are the same everywhere. */
type Answers = Answer | Reply<'GET /api/v1/scans/checks'>;
type Save = (id: string, body: Change) => Promise<unknown>;

const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;

function Settings(props: { readonly of: Rule; readonly save: Save; readonly onSaved: () => void }): JSX.Element {
  const [reason, setReason] = createSignal(props.of.reason);
  const action = createAction();
  const change = async (body: Change): Promise<void> => {
    if (!(await action.run(() => props.save(props.of.id, body)))) return;
    tell(codeRulesText.saved);
    props.onSaved();
  };
  const chosen = (): string => (props.of.severity === props.of.default_severity ? '' : props.of.severity);
  return (
    <details>
      <summary>{codeRulesText.change}</summary>
      <div class="stack tight">
        <div class="grid grid-3">
          <TextField
            label={codeRulesText.reason}
            value={reason()}
            onInput={setReason}
            help={codeRulesText.reasonHelp}
          />
          <SelectField
            label={codeRulesText.severityOf(props.of.id)}
            value={chosen()}
            options={[['', codeRulesText.ownSeverity], ...severities.map((name) => [name, name] as const)]}
            onChange={(name) => void change({ severity: name === '' ? null : (name as Rule['severity']) })}
          />
        </div>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button
            isSmall
            isBusy={action.isBusy()}
            onClick={() => void change({ enabled: !props.of.enabled, reason: reason() })}
          >
            {codeRulesText.change}
          </Button>{' '}
          <Show when={props.of.set_for === 'application'}>
            <Button
              isSmall
              isBusy={action.isBusy()}
              onClick={() => void change({ enabled: null, severity: null, reason: '' })}
            >
              {codeRulesText.asOrganisation}
            </Button>
          </Show>
        </div>
      </div>
    </details>
  );
}

function OfScanner(props: {
  readonly title: string;
  readonly of: QueryState<Answers>;
  /** Absent: they cannot be changed. */
  readonly save?: Save | undefined;
  /** Of own ones; absent: there are none. */
  readonly remove?: ((id: string) => Promise<unknown>) | undefined;
}): JSX.Element {
  const isOwn = (rule: Answers['items'][number]): boolean => 'provenance' in rule && rule.provenance === 'own';
  const remove = (id: string): void => void props.remove?.(id).then(() => void props.of.reload(), tellProblem);
  return (
    <Card title={props.title}>
      <Read of={props.of}>
        {(answer) => (
          <div class="stack">
            <For each={answer().items}>
              {(rule) => (
                <section class="stack tight" id={rule.id}>
                  <h3>
                    <Badge tone={severityTone(rule.severity)}>{rule.severity}</Badge>{' '}
                    <Foreign text={rule.title} max={200} />{' '}
                    <Show when={'enabled' in rule && !rule.enabled}>
                      <Badge tone="warn">{codeRulesText.off}</Badge>
                    </Show>{' '}
                    <Show when={'set_for' in rule && rule.set_for === 'application'}>
                      <Badge tone="info">{codeRulesText.ofApplication}</Badge>
                    </Show>
                  </h3>
                  <p>
                    <Foreign text={rule.description} max={4000} />
                  </p>
                  <p>
                    {text.fix}: <Foreign text={rule.remediation} max={4000} />
                  </p>
                  <p class="small faint mono">
                    {rule.id}
                    <Show when={'known_as' in rule && rule.known_as.length > 0 ? rule.known_as : null}>
                      {(names) => ` · ${text.knownAs} ${names().join(', ')}`}
                    </Show>
                  </p>
                  <Show when={isOwn(rule) && props.remove !== undefined}>
                    <div>
                      <Button isSmall aria-label={allowedText.removeRule(rule.id)} onClick={() => remove(rule.id)}>
                        {allowedText.remove}
                      </Button>
                    </div>
                  </Show>
                  <Show when={'enabled' in rule ? props.save : undefined}>
                    {(save) => <Settings of={rule as Rule} save={save()} onSaved={() => void props.of.reload()} />}
                  </Show>
                </section>
              )}
            </For>
          </div>
        )}
      </Read>
    </Card>
  );
}

/** Whose rules are shown and changed; empty: those of the organisation. */
function SetFor(props: { readonly application: string; readonly onChange: (id: string) => void }): JSX.Element {
  const applications = createApplications();
  return (
    <Card title={codeRulesText.setFor}>
      <SelectField
        label={codeRulesText.application}
        help={codeRulesText.setForHelp}
        value={props.application}
        options={applications.options(codeRulesText.organisation)}
        onChange={props.onChange}
      />
    </Card>
  );
}

export function Rules(props: { readonly access: VmAccess }): JSX.Element {
  const [application, setApplication] = createSignal('');
  /** As scans of the chosen application have them; of none, of the organisation. */
  const chosen = () => (application() === '' ? {} : { application_id: application() });
  const query = () => ({ query: chosen() });
  const secrets = createQuery('GET /api/v1/secrets/detectors', query);
  const sast = createQuery('GET /api/v1/sast/rules', query);
  const iac = createQuery('GET /api/v1/iac/rules', query);
  const k8s = createQuery('GET /api/v1/k8s-posture/controls', query);
  const active = createQuery('GET /api/v1/scans/checks');
  const mayCode = (): boolean => props.access.may('manage_code_rules');
  const code = (save: Save): Save | undefined => (mayCode() ? save : undefined);
  return (
    <>
      <Show when={mayCode()}>
        <OwnRule
          onAdded={() => {
            void sast.reload();
            void secrets.reload();
          }}
        />
        <TryRule />
        <AllowSecret />
      </Show>
      <AllowedSecrets mayEdit={mayCode()} />
      <SetFor application={application()} onChange={setApplication} />
      <OfScanner title={text.kinds.active} of={active} />
      <OfScanner
        title={text.kinds.secrets}
        of={secrets}
        save={code((id, body) =>
          call('PATCH /api/v1/secrets/detectors/{id}', { params: { id }, body: { ...body, ...chosen() } }),
        )}
        remove={mayCode() ? (id) => call('DELETE /api/v1/secrets/detectors/{id}', { params: { id } }) : undefined}
      />
      <OfScanner
        title={text.kinds.sast}
        of={sast}
        save={code((id, body) =>
          call('PATCH /api/v1/sast/rules/{id}', { params: { id }, body: { ...body, ...chosen() } }),
        )}
        remove={mayCode() ? (id) => call('DELETE /api/v1/sast/rules/{id}', { params: { id } }) : undefined}
      />
      <OfScanner
        title={text.kinds.iac}
        of={iac}
        save={code((id, body) =>
          call('PATCH /api/v1/iac/rules/{id}', { params: { id }, body: { ...body, ...chosen() } }),
        )}
      />
      <OfScanner
        title={text.kinds.k8s}
        of={k8s}
        save={
          props.access.may('edit_k8s')
            ? (id, body) =>
                call('PATCH /api/v1/k8s-posture/controls/{id}', { params: { id }, body: { ...body, ...chosen() } })
            : undefined
        }
      />
    </>
  );
}
