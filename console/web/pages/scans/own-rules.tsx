// Rules of an installation's own, one of them tried on a text, and what is known to be no secret.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction, type Action } from '../../client/action.js';
import { call } from '../../client/http.js';
import { dayAfter, endOfDay } from '../../client/moments.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { codeRulesText as text } from '../../texts/vm/sources/code-rules.js';
import { scansText } from '../../texts/vm/sources/scans.js';
import { createApplications } from '../vulnerabilities/words.js';

const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
type Severity = (typeof severities)[number];
const severityOptions = severities.map((name) => [name, name] as const);
const words = (given: string): string[] => given.split(/[\s,]+/).filter(Boolean);

function Problem(props: { readonly of: Action }): JSX.Element {
  return <Show when={props.of.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>;
}

export function OwnRule(props: { readonly onAdded: () => void }): JSX.Element {
  const [scanner, setScanner] = createSignal<'sast' | 'secrets'>('sast');
  const [id, setId] = createSignal('own-');
  const [title, setTitle] = createSignal('');
  const [severity, setSeverity] = createSignal<Severity>('high');
  const [pattern, setPattern] = createSignal('');
  const [endings, setEndings] = createSignal('');
  const [description, setDescription] = createSignal('');
  const [remediation, setRemediation] = createSignal('');
  const action = createAction();
  const add = async (): Promise<void> => {
    const body = {
      ...{ id: id().trim(), title: title(), severity: severity(), pattern: pattern(), endings: words(endings()) },
      ...{ description: description(), remediation: remediation() },
    };
    const isDone = await action.run(async () => {
      if (scanner() === 'sast') await call('POST /api/v1/sast/rules', { body });
      else await call('POST /api/v1/secrets/detectors', { body });
      tell(text.added(body.id));
    });
    if (isDone) props.onAdded();
  };
  return (
    <Card title={text.own}>
      <div class="stack">
        <p>{text.ownAbout}</p>
        <div class="grid grid-3">
          <SelectField
            label={text.scanner}
            value={scanner()}
            options={[
              ['sast', scansText.kinds.sast],
              ['secrets', scansText.kinds.secrets],
            ]}
            onChange={setScanner}
          />
          <TextField label={text.id} value={id()} onInput={setId} help={text.idHelp} />
          <TextField label={text.title} value={title()} onInput={setTitle} />
          <SelectField label={text.severity} value={severity()} options={severityOptions} onChange={setSeverity} />
          <TextField label={text.pattern} value={pattern()} onInput={setPattern} />
          <TextField label={text.endings} value={endings()} onInput={setEndings} help={text.endingsHelp} />
        </div>
        <AreaField label={text.description} value={description()} onInput={setDescription} rows={2} />
        <AreaField label={text.remediation} value={remediation()} onInput={setRemediation} rows={2} />
        <Problem of={action} />
        <div>
          <Button look="primary" isBusy={action.isBusy()} onClick={() => void add()}>
            {text.add}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const languages = ['javascript', 'typescript', 'python', 'java', 'php', 'go'] as const;
type Language = (typeof languages)[number];

export function TryRule(): JSX.Element {
  const [id, setId] = createSignal('');
  const [code, setCode] = createSignal('');
  const [language, setLanguage] = createSignal<Language>('javascript');
  const [lines, setLines] = createSignal('');
  const [answer, setAnswer] = createSignal<string | null>(null);
  const action = createAction();
  const shown = (all: readonly unknown[]): string => all.join(', ') || text.none;
  const tryIt = (): Promise<boolean> =>
    action.run(async () => {
      const found = await call('POST /api/v1/sast/rules/{id}/test', {
        params: { id: id().trim() },
        body: { code: code(), language: language(), expected_lines: words(lines()).map(Number) },
      });
      setAnswer(found.pass ? text.passes : text.fails(shown(found.missing), shown(found.unexpected)));
    });
  return (
    <Card title={text.tryRule}>
      <div class="stack">
        <div class="grid grid-3">
          <TextField label={text.id} value={id()} onInput={setId} />
          <SelectField
            label={text.language}
            value={language()}
            options={languages.map((name) => [name, name] as const)}
            onChange={setLanguage}
          />
          <TextField label={text.lines} value={lines()} onInput={setLines} help={text.linesHelp} />
        </div>
        <AreaField label={text.code} value={code()} onInput={setCode} rows={6} />
        <Problem of={action} />
        <Show when={answer()}>{(found) => <Notice tone="info">{found()}</Notice>}</Show>
        <div>
          <Button isBusy={action.isBusy()} disabled={id() === '' || code() === ''} onClick={() => void tryIt()}>
            {text.tryIt}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const allowKinds = ['hash', 'path', 'regex'] as const;
type AllowKind = (typeof allowKinds)[number];
const usualDays = 90;

export function AllowSecret(): JSX.Element {
  const applications = createApplications();
  const [application, setApplication] = createSignal('');
  const [kind, setKind] = createSignal<AllowKind>('path');
  const [value, setValue] = createSignal('');
  const [reason, setReason] = createSignal('');
  const [until, setUntil] = createSignal(dayAfter(Date.now(), usualDays));
  const action = createAction();
  const allow = (): Promise<boolean> =>
    action.run(async () => {
      const body = {
        ...{ kind: kind(), value: value(), reason: reason(), expires_at: endOfDay(until()) ?? '' },
        ...(application() === '' ? {} : { application_id: application() }),
      };
      await call('POST /api/v1/secrets/allowlist', { body });
      tell(text.allowed);
    });
  return (
    <Card title={text.allow}>
      <div class="stack">
        <p>{text.allowAbout}</p>
        <div class="grid grid-3">
          <SelectField
            label={text.application}
            value={application()}
            options={applications.options(text.everyApplication)}
            onChange={setApplication}
          />
          <SelectField
            label={text.kind}
            value={kind()}
            options={allowKinds.map((name) => [name, text.kinds[name]] as const)}
            onChange={setKind}
          />
          <TextField label={text.value} value={value()} onInput={setValue} />
          <TextField label={text.reason} value={reason()} onInput={setReason} />
          <TextField label={text.until} type="date" value={until()} onInput={setUntil} />
        </div>
        <Problem of={action} />
        <div>
          <Button
            isBusy={action.isBusy()}
            disabled={value() === '' || reason() === '' || until() === ''}
            onClick={() => void allow()}
          >
            {text.allowIt}
          </Button>
        </div>
      </div>
    </Card>
  );
}
