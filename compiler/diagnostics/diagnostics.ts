// Problems are data with positions.
import type { SourceFile, Span } from '../text/source.js';
import { diagnosticCodes, type DiagnosticCode, type Severity } from './codes.js';

/**
 * A problem with its place. Lines and columns count from 1, columns in bytes; `path` is set for settings (JSON
 * pointer).
 */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Bytes underlined in the excerpt, at least 1. */
  readonly length: number;
  /** The source line, latin1, without its line ending; '' when there is no text to show. */
  readonly excerpt: string;
  /** JSON pointer into the settings, else null. */
  readonly path: string | null;
}

/** What one run found. A cap keeps a hopeless file from filling memory; what is beyond it is counted. */
export class Diagnostics {
  static readonly countMax = 1000;
  readonly list: Diagnostic[] = [];
  omitted = 0;
  private errorSeen = false;

  get hasErrors(): boolean {
    return this.errorSeen;
  }

  /** Reports at a span of a file. `hint` replaces the table's when the place knows better. */
  report(
    code: DiagnosticCode,
    message: string,
    file: SourceFile,
    span: Pick<Span, 'start' | 'end'>,
    hint?: string,
  ): void {
    const { line, column } = file.position(span.start);
    const excerpt = file.lineText(line);
    const length = Math.max(1, Math.min(span.end - span.start, excerpt.length - column + 1));
    this.push({
      code,
      severity: diagnosticCodes[code].severity,
      message,
      hint: hint ?? diagnosticCodes[code].hint,
      file: file.path,
      line,
      column,
      length,
      excerpt,
      path: null,
    });
  }

  /** Reports a setting that cannot be used. `path` is a JSON pointer such as `/custom_rules/3/value`. */
  reportSetting(code: DiagnosticCode, message: string, path: string): void {
    this.push({
      code,
      severity: diagnosticCodes[code].severity,
      message,
      hint: diagnosticCodes[code].hint,
      file: 'settings',
      line: 1,
      column: 1,
      length: 1,
      excerpt: '',
      path,
    });
  }

  push(diagnostic: Diagnostic): void {
    if (diagnostic.severity === 'error') this.errorSeen = true;
    if (this.list.length < Diagnostics.countMax) this.list.push(diagnostic);
    else this.omitted += 1;
  }
}
