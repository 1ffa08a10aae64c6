// Diagnostics as people read them.
import type { Severity } from './codes.js';
import type { Diagnostic } from './diagnostics.js';

const excerptWidthMax = 160;

/**
 * One diagnostic as people read it: `file:line:col: severity CODE message`, the excerpt with a marker, and how to fix
 * it.
 */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const place =
    diagnostic.path === null
      ? `${diagnostic.file}:${diagnostic.line}:${diagnostic.column}`
      : `settings ${diagnostic.path === '' ? '/' : diagnostic.path}`;
  const lines = [`${place}: ${diagnostic.severity} ${diagnostic.code} ${diagnostic.message}`];
  if (diagnostic.excerpt !== '') {
    const from = Math.max(0, diagnostic.column - 1 - Math.floor(excerptWidthMax / 2));
    const shown = diagnostic.excerpt.slice(from, from + excerptWidthMax).replace(/[^\x20-\x7e]/g, ' ');
    const marks = '^'.repeat(Math.max(1, Math.min(diagnostic.length, from + excerptWidthMax - diagnostic.column + 1)));
    lines.push(
      `    ${from > 0 ? '...' : ''}${shown}`,
      `    ${' '.repeat(diagnostic.column - 1 - from + (from > 0 ? 3 : 0))}${marks}`,
    );
  }
  lines.push(`    = ${diagnostic.hint}`);
  return lines.join('\n');
}

/** All of them, errors as reported, with a line of counts at the end; '' when there are none. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[]): string {
  if (diagnostics.length === 0) return '';
  const count = (severity: Severity): number => diagnostics.filter((one) => one.severity === severity).length;
  const tally = `${count('error')} errors, ${count('warning')} warnings, ${count('info')} notes`;
  return `${diagnostics.map(formatDiagnostic).join('\n')}\n${tally}\n`;
}
