// An editor for seclang: words coloured, mistakes marked at their place. It lives in a shadow root, where its styles
// are adopted sheets, so that the page's Content-Security-Policy needs no exception for it.
import { history, historyKeymap } from '@codemirror/commands';
import { lintGutter, setDiagnostics, type Diagnostic as Mark } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { Decoration, EditorView, keymap, lineNumbers, MatchDecorator, ViewPlugin } from '@codemirror/view';
import type { DecorationSet, ViewUpdate } from '@codemirror/view';
import { createEffect, onCleanup, onMount, type JSX } from 'solid-js';
import type { Diagnostic } from '../../client/http.js';
import { keys } from './keys.js';
import { kindOfWord, wordKinds, wordPattern } from './words.js';

const wordMarks = new Map(wordKinds.map((name) => [name, Decoration.mark({ class: `seclang-${name}` })]));

const colourer = new MatchDecorator({
  regexp: wordPattern,
  decoration: (match) => wordMarks.get(kindOfWord(match)) ?? null,
});

const colours = ViewPlugin.fromClass(
  class {
    marks: DecorationSet;
    constructor(view: EditorView) {
      this.marks = colourer.createDeco(view);
    }
    update(update: ViewUpdate): void {
      this.marks = colourer.updateDeco(update, this.marks);
    }
  },
  { decorations: ({ marks }) => marks },
);

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--sunken)', color: 'var(--ink)', fontSize: '13px', minHeight: '180px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--ink)', minHeight: '180px' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-3)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line-strong)' },
  '.seclang-comment': { color: 'var(--ink-3)' },
  '.seclang-directive': { color: 'var(--accent-ink)', fontWeight: '600' },
  '.seclang-operator': { color: 'var(--warn)' },
  '.seclang-variable': { color: 'var(--info)' },
  '.seclang-key': { color: 'var(--good)' },
  '.seclang-action': { color: 'var(--danger)' },
  '.seclang-number': { color: 'var(--warn)' },
});

/** Positions of the control plane (line and column from 1) as those of the text. */
export function marksOf(state: EditorState, problems: readonly Diagnostic[]): Mark[] {
  return problems.map(({ severity, message, hint, line = 1, column = 1 }) => {
    const at = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
    const from = Math.min(at.from + Math.max(0, column - 1), at.to);
    const word = /^\S*/.exec(state.doc.sliceString(from, at.to))?.[0].length ?? 0;
    return {
      from,
      to: Math.min(at.to, from + Math.max(1, word)),
      severity: severity === 'error' ? 'error' : 'warning',
      message: hint === undefined || hint === '' ? message : `${message}\n${hint}`,
    };
  });
}

export function SeclangEditor(props: {
  readonly label: string;
  readonly value: string;
  readonly problems: readonly Diagnostic[];
  readonly isDisabled: boolean;
  readonly onInput: (text: string) => void;
}): JSX.Element {
  let host: HTMLDivElement | undefined;
  let view: EditorView | undefined;
  const editable = new Compartment();
  onMount(() => {
    if (host === undefined) return;
    const root = host.attachShadow({ mode: 'open' });
    const parent = document.createElement('div');
    root.append(parent);
    view = new EditorView({
      root,
      parent,
      state: EditorState.create({
        doc: props.value,
        extensions: [
          lineNumbers(),
          history(),
          lintGutter(),
          colours,
          look,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': props.label }),
          editable.of(EditorView.editable.of(!props.isDisabled)),
          keymap.of([...keys, ...historyKeymap]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) props.onInput(update.state.doc.toString());
          }),
        ],
      }),
    });
  });
  createEffect(() => {
    const { value } = props;
    if (view !== undefined && view.state.doc.toString() !== value)
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  });
  createEffect(() => {
    const { problems } = props;
    if (view !== undefined) view.dispatch(setDiagnostics(view.state, marksOf(view.state, problems)));
  });
  onCleanup(() => view?.destroy());
  return <div class="seclang-editor" ref={host} />;
}
