import { copyAndTell } from '../../../kit/copy.js';
import { shareText as text } from '../../../texts/events/share.js';
import { asMarkdown, type MarkdownSource } from '../sentence/markdown.js';

export async function copyAsMarkdown(event: MarkdownSource): Promise<void> {
  await copyAndTell(asMarkdown(event, null), text.markdownCopied);
}
