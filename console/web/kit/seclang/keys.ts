// Keys of the editor: to move, to select, to delete, to carry lines about. Tab is not among them: it leaves the editor.
import * as move from '@codemirror/commands';
import { EditorSelection, findClusterBreak } from '@codemirror/state';
import type { EditorView, KeyBinding } from '@codemirror/view';

/** Deletes what is selected, else the character before or behind the cursor, marks above it and all. */
const deleteChar =
  (isForward: boolean) =>
  ({ state, dispatch }: EditorView): boolean => {
    if (state.readOnly) return false;
    const next = (at: number): number => {
      const line = state.doc.lineAt(at);
      if (at === (isForward ? line.to : line.from)) return at + (isForward ? 1 : -1);
      return line.from + findClusterBreak(line.text, at - line.from, isForward);
    };
    const change = state.changeByRange(({ from, to, empty }) => {
      const other = empty ? Math.min(state.doc.length, Math.max(0, next(from))) : to;
      const changes = { from: Math.min(from, other), to: Math.max(from, other) };
      return { changes, range: EditorSelection.cursor(changes.from) };
    });
    dispatch(state.update(change, { userEvent: `delete.${isForward ? 'forward' : 'backward'}`, scrollIntoView: true }));
    return true;
  };

type Command = NonNullable<KeyBinding['run']>;
/** By key: what it does, and what it does with Shift. */
type Keys = Readonly<Record<string, readonly [run: Command, shift?: Command]>>;

const everywhere: Keys = {
  ArrowLeft: [move.cursorCharLeft, move.selectCharLeft],
  ArrowRight: [move.cursorCharRight, move.selectCharRight],
  ArrowUp: [move.cursorLineUp, move.selectLineUp],
  ArrowDown: [move.cursorLineDown, move.selectLineDown],
  PageUp: [move.cursorPageUp, move.selectPageUp],
  PageDown: [move.cursorPageDown, move.selectPageDown],
  Home: [move.cursorLineBoundaryBackward, move.selectLineBoundaryBackward],
  End: [move.cursorLineBoundaryForward, move.selectLineBoundaryForward],
  'Mod-Home': [move.cursorDocStart, move.selectDocStart],
  'Mod-End': [move.cursorDocEnd, move.selectDocEnd],
  'Mod-a': [move.selectAll],
  Enter: [move.insertNewlineKeepIndent, move.insertNewlineKeepIndent],
  Backspace: [deleteChar(false), deleteChar(false)],
  Delete: [deleteChar(true)],
  'Alt-ArrowUp': [move.moveLineUp, move.copyLineUp],
  'Alt-ArrowDown': [move.moveLineDown, move.copyLineDown],
  'Shift-Mod-k': [move.deleteLine],
};
const exceptOnMacs: Keys = {
  'Ctrl-ArrowLeft': [move.cursorGroupLeft, move.selectGroupLeft],
  'Ctrl-ArrowRight': [move.cursorGroupRight, move.selectGroupRight],
  'Ctrl-Backspace': [move.deleteGroupBackward],
  'Ctrl-Delete': [move.deleteGroupForward],
};
const onMacs: Keys = {
  'Alt-ArrowLeft': [move.cursorGroupLeft, move.selectGroupLeft],
  'Alt-ArrowRight': [move.cursorGroupRight, move.selectGroupRight],
  'Alt-Backspace': [move.deleteGroupBackward],
  'Alt-Delete': [move.deleteGroupForward],
  'Cmd-ArrowLeft': [move.cursorLineBoundaryLeft, move.selectLineBoundaryLeft],
  'Cmd-ArrowRight': [move.cursorLineBoundaryRight, move.selectLineBoundaryRight],
  'Cmd-ArrowUp': [move.cursorDocStart, move.selectDocStart],
  'Cmd-ArrowDown': [move.cursorDocEnd, move.selectDocEnd],
  'Cmd-Backspace': [move.deleteLineBoundaryBackward],
  'Cmd-Delete': [move.deleteLineBoundaryForward],
};

const bind = (keys: Keys, on: (name: string) => KeyBinding): KeyBinding[] =>
  Object.entries(keys).map(([name, [run, shift]]) => ({
    ...on(name),
    run,
    ...(shift === undefined ? {} : { shift }),
  }));

/**
 * CodeMirror's own list of keys asks its parsers how far a line is indented, and would bring them along; so would its
 * Backspace.
 */
export const keys: readonly KeyBinding[] = [
  ...bind(everywhere, (key) => ({ key })),
  ...bind(exceptOnMacs, (key) => ({ win: key, linux: key })),
  ...bind(onMacs, (key) => ({ mac: key })),
];
