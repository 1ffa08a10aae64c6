// Saving one entry of a list in the settings (a site, a limit, a connector) from a form of its own: saved alone, or
// saved and applied where nothing else waits to be applied. What is refused is shown at its field.
import { createSignal, Show, type Accessor, type JSX } from 'solid-js';
import { call, Refused, written } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { saveChange, type SettingsValues } from '../../client/settings-draft.js';
import { Button, Notice } from '../../kit/basics.js';
import { tell } from '../../kit/overlays.js';
import { formsText as text } from '../../texts/setup/forms.js';
import { ChangedMeanwhile, type EntryChange } from './entries.js';
import { noProblems, problemsOfEntry, type EntryProblems } from './field-problems.js';

export interface EntrySave {
  readonly isBusy: Accessor<boolean>;
  readonly problems: Accessor<EntryProblems>;
  /** `change` throws ChangedMeanwhile for what cannot be saved any more. True when it was saved. */
  run(change: (stored: SettingsValues) => EntryChange, isApplied: boolean): Promise<boolean>;
  /** Other work with the same form, such as a test: what is refused is shown at its fields as well. */
  attempt(work: () => Promise<void>): Promise<boolean>;
}

/** Applies what is saved and says what became of it. */
async function apply(): Promise<void> {
  try {
    const { version, took_ms: tookMs } = await call('POST /api/apply');
    tell(text.inForce(version, (tookMs / 1000).toFixed(1)));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    tell(text.savedNotApplied(error.message), true);
  }
}

const invalid = '[aria-invalid="true"]';
const focusFirstProblem = (): void =>
  void setTimeout(() => {
    const dialog = [...document.querySelectorAll('dialog')].find(({ open }) => open);
    dialog?.querySelector<HTMLElement>(invalid)?.focus();
  });

/** `fields`: those of the form that show their problems. `saved`: the note when it is saved and not applied. */
export function createEntrySave(fields: readonly string[], saved: string = text.saved): EntrySave {
  const [isBusy, setBusy] = createSignal(false);
  const [problems, setProblems] = createSignal<EntryProblems>(noProblems);
  const attempt = async (work: () => Promise<void>, place = (): string => ''): Promise<boolean> => {
    if (isBusy()) return false;
    setBusy(true);
    setProblems(noProblems);
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof Refused) setProblems(problemsOfEntry(error, place(), fields));
      else if (error instanceof ChangedMeanwhile) setProblems({ ...noProblems, rest: text.changedMeanwhile });
      else throw error;
      focusFirstProblem();
      return false;
    } finally {
      setBusy(false);
    }
  };
  const run: EntrySave['run'] = (change, isApplied) => {
    let place = '';
    const work = async (): Promise<void> => {
      await saveChange((stored) => {
        const made = change(stored);
        place = made.place;
        return made.patch;
      });
      if (isApplied) await apply();
      else tell(saved);
    };
    return attempt(work, () => place);
  };
  return { isBusy, problems, run, attempt: (work) => attempt(work) };
}

/** The buttons below such a form, and what no field shows. `isBlank`: what is needed is not typed yet. */
export function SaveFoot(props: {
  readonly of: EntrySave;
  readonly isBlank?: boolean;
  readonly onSave: (isApplied: boolean) => void;
}): JSX.Element {
  const versions = createQuery('GET /api/config/versions', () => (written(), { query: { limit: 1 } }));
  const head = (): boolean | undefined => versions.data()?.items[0]?.active;
  /** With other changes that wait, an apply would be of those as well: that is decided where they are shown. */
  const mayApply = (): boolean => mayAs('operator') && head() !== false;
  const isDisabled = (): boolean => props.of.isBusy() || props.isBlank === true;
  return (
    <>
      <Show when={props.of.problems().rest}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={head() === false}>
        <p class="muted small">{text.othersWait}</p>
      </Show>
      <div class="form-foot row wrap">
        <Show when={mayApply()}>
          <Button look="primary" isBusy={props.of.isBusy()} disabled={isDisabled()} onClick={() => props.onSave(true)}>
            {text.saveAndApply}
          </Button>
        </Show>
        <Button type="submit" {...(mayApply() ? {} : { look: 'primary' as const })} disabled={isDisabled()}>
          {text.save}
        </Button>
      </div>
    </>
  );
}
