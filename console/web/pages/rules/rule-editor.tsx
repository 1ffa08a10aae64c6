// One custom rule: from a form or as seclang, with its tests, checked while one types.
import { useLocation, useParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, ErrorBoundary, For, lazy, on, onCleanup } from 'solid-js';
import { onMount, Show, Suspense, untrack, type JSX } from 'solid-js';
import { call, Refused, type Diagnostic } from '../../client/http.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Loading, Notice, PageHead, Tabs } from '../../kit/basics.js';
import { AreaField, Switch, TextField } from '../../kit/form.js';
import { Confirm, tell, tellProblem } from '../../kit/overlays.js';
import { UnsavedGuard, useDeparture } from '../../kit/unsaved.js';
import { ConditionBuilder } from './condition-builder.js';
import { RecordedMatches } from './recorded-matches.js';
import { blankRule, bodyOf, type CustomRule, type RuleTest } from './rule.js';
import { RuleSites } from './rule-sites.js';
import { TestBench, type Tried } from './test-bench.js';
import { VisualBuilder } from './visual-builder.js';
import { rulesText as words } from '../../texts/rules/rules.js';
import { conditionsText } from '../../texts/rules/conditions.js';

/** Most of the page's weight, and whoever stays with the form never needs it. */
const SeclangEditor = lazy(async () => ({ default: (await import('../../kit/seclang/editor.js')).SeclangEditor }));

interface SeclangProps {
  readonly value: string;
  readonly problems: readonly Diagnostic[];
  readonly isDisabled: boolean;
  readonly onInput: (text: string) => void;
}

/** Where the editor cannot be loaded (an upgrade replaced it), a plain field is enough to finish and save a rule. */
function SeclangField(props: SeclangProps): JSX.Element {
  return (
    <ErrorBoundary
      fallback={
        <AreaField label={words.seclang} value={props.value} isDisabled={props.isDisabled} onInput={props.onInput} />
      }
    >
      <Suspense fallback={<Loading />}>
        <SeclangEditor {...props} label={words.seclang} />
      </Suspense>
    </ErrorBoundary>
  );
}

const checkAfterMs = 500;
function isBlank(rule: CustomRule): boolean {
  if (rule.kind === 'raw') return rule.seclang.trim() === '';
  if (rule.kind === 'visual') return rule.value === '' && rule.operator === blankRule.operator;
  return rule.any.length === 0;
}

/** What checking it has shown, where there is nothing to fix. */
const told = (tried: Tried | null): string => {
  if (tried?.passed !== true) return words.compilesTestDoesNot;
  return tried.tests.length === 0 ? words.compilesNoTests : words.compilesItsTestsPass;
};

function Problems(props: { readonly tried: Tried | null; readonly refused: Refused | null }): JSX.Element {
  const list = (): readonly Diagnostic[] => props.tried?.problems ?? [];
  return (
    <div class="stack tight" aria-live="polite">
      <Show when={props.refused}>
        {(error) => (
          <Notice tone="danger" title={words.notSaved}>
            <span>{error().message}</span>
            <For
              each={[
                ...error().errors.map((one) => `${one.path} ${one.reason}`),
                ...error().diagnostics.map(({ message }) => message),
              ]}
            >
              {(text) => <span class="small">{text}</span>}
            </For>
          </Notice>
        )}
      </Show>
      <For each={list()}>
        {(one) => (
          <Notice tone={one.severity === 'error' ? 'danger' : 'warn'} title={one.message}>
            <span class="small">
              <Show when={(one.line ?? 0) > 0}>{words.lineColumnOf(one.line, one.column)}: </Show>
              {one.hint} <code class="faint">{one.code}</code>
            </span>
          </Notice>
        )}
      </For>
      <Show when={props.tried !== null && list().length === 0}>
        <div class="row">
          <Badge tone={props.tried?.passed === true ? 'good' : 'danger'}>{told(props.tried)}</Badge>
        </div>
      </Show>
    </div>
  );
}

interface EditorState {
  readonly rule: () => CustomRule;
  readonly tried: () => Tried | null;
  readonly refused: () => Refused | null;
  readonly isBusy: () => boolean;
  /** What is typed is not what is saved. */
  readonly isDirty: () => boolean;
  change(part: Partial<CustomRule>): void;
  save(): Promise<void>;
  remove(): Promise<void>;
}

/** Loads the rule with that id (null: a new one), checks it after each pause in typing, saves it. */
function createEditor(id: number | null, onSaved: () => void): EditorState & { readonly isLoaded: () => boolean } {
  const [rule, setRule] = createSignal<CustomRule>(blankRule);
  const [kept, setKept] = createSignal<CustomRule>(blankRule);
  const isDirty = createMemo(() => JSON.stringify(rule()) !== JSON.stringify(kept()));
  const [isLoaded, setLoaded] = createSignal(id === null);
  const [tried, setTried] = createSignal<Tried | null>(null);
  const [refused, setRefused] = createSignal<Refused | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  onMount(() => {
    if (id === null) return;
    void call('GET /api/rules/{id}', { params: { id } }).then((reply) => {
      setRule(reply.rule as unknown as CustomRule);
      setKept(rule());
      setLoaded(true);
    }, tellProblem);
  });
  const check = async (): Promise<void> => {
    try {
      setTried(
        await call('POST /api/rules/test', { body: { ...(id === null ? {} : { id }), rule: bodyOf(rule()) } as never }),
      );
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setTried(null);
    }
  };
  createEffect(
    on(rule, (now) => {
      clearTimeout(timer);
      setRefused(null);
      if (isLoaded() && !isBlank(now)) timer = setTimeout(() => void check(), checkAfterMs);
    }),
  );
  onCleanup(() => clearTimeout(timer));
  const attempt = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    setBusy(true);
    try {
      await work();
      setKept(rule());
      tell(done);
      onSaved();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setRefused(error);
    } finally {
      setBusy(false);
    }
  };
  return {
    rule,
    tried,
    refused,
    isBusy,
    isDirty,
    isLoaded,
    change: (part) => setRule((before) => ({ ...before, ...part })),
    save: () =>
      attempt(
        () =>
          id === null
            ? call('POST /api/rules', { body: bodyOf(rule()) })
            : call('PATCH /api/rules/{id}', { params: { id }, body: bodyOf(rule()) as never }),
        words.savedForceOnceApplied,
      ),
    remove: () => attempt(() => call('DELETE /api/rules/{id}', { params: { id: id ?? 0 } }), words.removed),
  };
}

/** What the check said of a field, by its JSON pointer. */
const problemAt = ({ tried }: EditorState, path: string): string | null =>
  tried()?.problems.find((one) => one.path === path && one.severity === 'error')?.message ?? null;

/** The rule itself, in the form that it is written in. */
function Written(props: { readonly of: EditorState; readonly isFixed: boolean }): JSX.Element {
  const of = props.of;
  const isFixed = props.isFixed;
  return (
    <Show
      when={of.rule().kind === 'raw'}
      fallback={
        <Show
          when={of.rule().kind === 'conditions'}
          fallback={<VisualBuilder rule={of.rule()} isDisabled={isFixed} onChange={of.change} />}
        >
          <ConditionBuilder
            rule={of.rule()}
            isDisabled={isFixed}
            problemAt={(path) => problemAt(of, path)}
            onChange={of.change}
          />
        </Show>
      }
    >
      <SeclangField
        value={of.rule().seclang}
        problems={of.tried()?.problems ?? []}
        isDisabled={isFixed}
        onInput={(seclang) => of.change({ seclang })}
      />
    </Show>
  );
}

function Form(props: { readonly of: EditorState }): JSX.Element {
  const isFixed = !mayAs('operator');
  const of = props.of;
  return (
    <Card>
      <div class="stack">
        <div class="row wrap end">
          <div class="grow">
            <TextField
              label={words.name}
              value={of.rule().name}
              isDisabled={isFixed}
              isRequired
              onInput={(name) => of.change({ name })}
            />
          </div>
          <Switch
            label={words.on}
            isOn={of.rule().enabled}
            isDisabled={isFixed}
            onChange={(enabled) => of.change({ enabled })}
          />
        </div>
        <Tabs
          label={words.howWritten}
          chosen={of.rule().kind}
          tabs={[
            ['conditions', conditionsText.tab],
            ['visual', words.form],
            ['raw', words.seclang],
          ]}
          onChoose={(kind) =>
            of.change({
              kind,
              ...(kind === 'raw' && of.rule().seclang === '' ? { seclang: of.tried()?.seclang ?? '' } : {}),
            })
          }
        />
        <Written of={of} isFixed={isFixed} />
        <RuleSites chosen={of.rule().sites} isDisabled={isFixed} onChange={(sites) => of.change({ sites })} />
        <Problems tried={of.tried()} refused={of.refused()} />
        <Show when={of.rule().kind !== 'raw' && of.tried()?.seclang}>
          {(text) => (
            <details>
              <summary class="small muted">{words.asSeclang}</summary>
              <pre class="code">{text()}</pre>
            </details>
          )}
        </Show>
      </div>
    </Card>
  );
}

export function RuleEditor(): JSX.Element {
  const params = useParams();
  const depart = useDeparture();
  const id = params['id'] === 'new' ? null : Number(params['id']);
  const [isRemoving, setRemoving] = createSignal(false);
  const editor = createEditor(id, () => depart('/waf/rules'));
  const location = useLocation<{ readonly test?: RuleTest }>();
  createEffect(() => {
    const brought = location.state?.test; // of a security event
    if (editor.isLoaded() && brought !== undefined)
      untrack(() => editor.change({ tests: [...editor.rule().tests, brought] }));
  });
  return (
    <>
      <PageHead title={id === null ? words.newRule : words.rule(id)}>
        <Button onClick={() => depart('/waf/rules')}>{words.back}</Button>
        <Show when={mayAs('operator')}>
          <Show when={id !== null}>
            <Button onClick={() => setRemoving(true)}>{words.remove}</Button>
          </Show>
          <Button look="primary" isBusy={editor.isBusy()} onClick={() => void editor.save()}>
            {words.save}
          </Button>
        </Show>
      </PageHead>
      <UnsavedGuard isDirty={editor.isDirty()} onDiscard={() => {}} />
      <Show when={editor.isLoaded()} fallback={<Loading />}>
        <Form of={editor} />
        <Show when={mayAs('operator')}>
          <RecordedMatches rule={editor.rule()} isReady={editor.tried()?.compiles === true} />
        </Show>
        <Card title={words.tests}>
          <TestBench
            tests={editor.rule().tests}
            tried={editor.tried()}
            isDisabled={!mayAs('operator')}
            onChange={(tests) => editor.change({ tests })}
          />
        </Card>
      </Show>
      <Confirm
        isOpen={isRemoving()}
        title={words.removeRule(id ?? '')}
        action={words.remove}
        isBusy={editor.isBusy()}
        onConfirm={() => void editor.remove()}
        onClose={() => setRemoving(false)}
      >
        <p>{words.staysOlderVersionsSettings}</p>
      </Confirm>
    </>
  );
}
