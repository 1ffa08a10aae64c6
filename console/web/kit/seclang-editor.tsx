// An editor for seclang: words coloured, mistakes marked at their place. It lives in a shadow root, where its styles
// are adopted sheets, so that the page's Content-Security-Policy needs no exception for it.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StringStream } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic as Mark } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { createEffect, onCleanup, onMount, type JSX } from 'solid-js';
import type { Diagnostic } from '../client/http.js';

const words: readonly (readonly [RegExp, string])[] = [
  [/^#.*/, 'comment'],
  [/^Sec[A-Za-z]+\b/, 'keyword'],
  [/^@[A-Za-z]+/, 'operatorKeyword'],
  [/^%\{[^}]*\}/, 'macroName'],
  [/^[A-Z][A-Z0-9_]{2,}\b/, 'variableName'],
  [/^(?:id|phase|status|severity)(?=:)/, 'propertyName'],
  [/^(?:deny|block|pass|allow|drop|redirect|log|nolog|auditlog|noauditlog|capture|chain|multiMatch)\b/, 'atom'],
  [/^(?:t|msg|logdata|tag|setvar|ctl|skipAfter|expirevar|initcol)(?=:)/, 'propertyName'],
  [/^\d+\b/, 'number'],
  [/^"/, 'string'],
];

const seclang = StreamLanguage.define<null>({
  name: 'seclang',
  token(stream: StringStream): string | null {
    if (stream.eatSpace()) return null;
    for (const [pattern, name] of words) if (stream.match(pattern)) return name;
    stream.next();
    return null;
  },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--ink-3)' },
  { tag: tags.keyword, color: 'var(--accent-ink)', fontWeight: '600' },
  { tag: tags.operatorKeyword, color: 'var(--warn)' },
  { tag: tags.macroName, color: 'var(--info)' },
  { tag: tags.variableName, color: 'var(--info)' },
  { tag: tags.propertyName, color: 'var(--good)' },
  { tag: tags.atom, color: 'var(--danger)' },
  { tag: tags.number, color: 'var(--warn)' },
]);

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--sunken)', color: 'var(--ink)', fontSize: '13px', minHeight: '180px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--ink)', minHeight: '180px' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-3)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line-strong)' },
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
          seclang,
          syntaxHighlighting(colours),
          look,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': props.label }),
          editable.of(EditorView.editable.of(!props.isDisabled)),
          keymap.of([...defaultKeymap, ...historyKeymap]),
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
