// Copying to the clipboard, wherever the console is opened: over plain HTTP from another machine, which is how many
// look at it first, browsers have no `navigator.clipboard` (Clipboard API, "secure context").
import type { JSX } from 'solid-js';
import { kitText as text } from '../texts/kit.js';
import { Button } from './basics.js';
import { tell } from './overlays.js';

/** By a field that is chosen and taken away again; in the open dialog, since nothing else can have the focus. */
function copyBySelection(value: string): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = value;
  field.readOnly = true;
  field.className = 'visually-hidden';
  (before?.closest('dialog') ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}

/** False: the browser does not allow it here. */
export async function copyText(value: string): Promise<boolean> {
  // absent in spite of its type
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return copyBySelection(value);
  return clipboard.writeText(value).then(
    () => true,
    () => copyBySelection(value),
  );
}

/** Copies, and says whether it did. `said`: what stands in the note, if not that it was copied. */
export async function copyAndTell(value: string, said: string = text.copied): Promise<void> {
  const isCopied = await copyText(value);
  tell(isCopied ? said : text.copyRefused, !isCopied);
}

/** `kind`: of what, for those who cannot see beside which words the button stands. */
export function CopyButton(props: { readonly of: string; readonly kind: keyof typeof text.copies }): JSX.Element {
  return (
    <Button isSmall aria-label={text.copies[props.kind]} onClick={() => void copyAndTell(props.of)}>
      {text.copy}
    </Button>
  );
}
