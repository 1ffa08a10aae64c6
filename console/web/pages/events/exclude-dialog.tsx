// From an event to an exclusion: as narrow as the event allows (this rule, this variable, this path), saved with who
// and why, then held against recorded traffic before anybody activates it.
import { createSignal, Match, Show, Switch, type JSX } from 'solid-js';
import { call, Refused, type Reply } from '../../client/http.js';
import { account } from '../../client/session.js';
import { draft, edit, loadSettings, problems, save } from '../../client/settings-draft.js';
import { Button, Notice } from '../../kit/basics.js';
import { SelectField, Switch as Toggle, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { ImpactView } from '../changes/impact.js';
import { partsOfMatch, pointsOf, type RuleMessage } from './event-text.js';
import type { SecurityEvent } from './events.js';
import { eventsText as words } from '../../texts/events.js';

type Applied = Reply<'POST /api/apply'>;
interface Exclusion {
  readonly rule_id: number;
  readonly target: string | null;
  readonly path: string | null;
}

const daysKept = 90;

/** A variable that an exclusion can name: with its own name only where that is plain. */
function targetOf(message: RuleMessage | undefined): string | null {
  const variable = partsOfMatch(message?.match ?? '')?.variable ?? '';
  return /^[A-Z_]+(?::[A-Za-z0-9_.[\]-]{1,200})?$/.test(variable) ? variable : null;
}

/** Saves it behind those that there are. True when it is saved. */
async function add(exclusion: Exclusion, reason: string): Promise<boolean> {
  await loadSettings();
  const before = (draft()?.['rule_exclusions'] ?? []) as readonly { readonly id: number }[];
  const id = Math.max(1_009_499, ...before.map((one) => one.id)) + 1;
  const expires = new Date(Date.now() + daysKept * 86_400_000).toISOString();
  const owner = account()?.email ?? '';
  const entry = { id, tag: null, method: null, enabled: true, ...exclusion, reason, owner, expires_at: expires };
  edit('rule_exclusions', [...before, entry]);
  return save(['rule_exclusions']);
}

/** The rule that weighs most: without it the request would have had the most points less. */
const heaviest = ([first, ...others]: readonly RuleMessage[]): RuleMessage | undefined =>
  others.reduce((found, one) => (pointsOf(one.severity) > pointsOf(found?.severity ?? '') ? one : found), first);

export function ExcludeDialog(props: {
  readonly event: SecurityEvent;
  readonly messages: readonly RuleMessage[];
  readonly onClose: () => void;
}): JSX.Element {
  const [ruleId, setRuleId] = createSignal(String(heaviest(props.messages)?.rule_id ?? ''));
  const [isNarrow, setNarrow] = createSignal(true);
  const [path, setPath] = createSignal(props.event.uri.split('?')[0] ?? '/');
  const [reason, setReason] = createSignal('');
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<string | null>(null);
  const [checked, setChecked] = createSignal<Applied | null>(null);
  const target = (): string | null => targetOf(props.messages.find((one) => String(one.rule_id) === ruleId()));
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  const saveAndCheck = (): Promise<void> =>
    attempt(async () => {
      const exclusion = { rule_id: Number(ruleId()), target: isNarrow() ? target() : null, path: path() || null };
      if (await add(exclusion, reason())) {
        setChecked(await call('POST /api/apply', { query: { dry_run: true } }));
        return;
      }
      setProblem(
        problems()
          .map((one) => `${one.path} ${one.reason}`)
          .join('; ') || words.somebodyElseSavedMeanwhile,
      );
    });
  const activate = (): Promise<void> =>
    attempt(async () => {
      await call('POST /api/apply');
      tell(words.exclusionForceOnEvery);
      props.onClose();
    });
  return (
    <Overlay
      isOpen
      look="wide"
      title={words.excludeFromRule}
      onClose={props.onClose}
      footer={
        <Switch>
          <Match when={checked() === null}>
            <Button
              look="primary"
              isBusy={isBusy()}
              disabled={reason().trim() === ''}
              onClick={() => void saveAndCheck()}
            >
              {words.saveCheckAgainstRecorded}
            </Button>
          </Match>
          <Match when={checked() !== null}>
            <Button onClick={props.onClose}>{words.leaveSavedNotActive}</Button>
            <Button look="primary" isBusy={isBusy()} onClick={() => void activate()}>
              {words.applyNow}
            </Button>
          </Match>
        </Switch>
      }
    >
      <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
      <Show
        when={checked()}
        fallback={
          <>
            <SelectField
              label={words.rule}
              value={ruleId()}
              options={props.messages.map((one) => [String(one.rule_id), `${one.rule_id} ${one.message}`] as const)}
              onChange={setRuleId}
            />
            <Toggle
              label={target() === null ? words.variableCannotBeNamed : words.onlyForVariable(target() ?? '')}
              isOn={isNarrow() && target() !== null}
              isDisabled={target() === null}
              onChange={setNarrow}
            />
            <TextField label={words.path} value={path()} onInput={setPath} help={words.whatLiesBelowEmpty} />
            <TextField
              label={words.why}
              value={reason()}
              onInput={setReason}
              isRequired
              help={words.standsSettingsYourName(daysKept)}
            />
          </>
        }
      >
        {(result) => <ImpactView applied={result()} />}
      </Show>
    </Overlay>
  );
}
