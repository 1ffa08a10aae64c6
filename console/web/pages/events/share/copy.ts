// Copying to the clipboard, with a note of the outcome.
import { tell } from '../../../kit/overlays.js';
import { shareText as text } from '../../../texts/events/share.js';
import { asMarkdown, type MarkdownSource } from '../sentence/markdown.js';

/** False: the browser does not allow it here. */
export const copyText = (value: string): Promise<boolean> =>
  navigator.clipboard.writeText(value).then(
    () => true,
    () => false,
  );

export async function copyAsMarkdown(event: MarkdownSource): Promise<void> {
  const isCopied = await copyText(asMarkdown(event, null));
  tell(isCopied ? text.markdownCopied : text.browserRefuses, !isCopied);
}
