// Dockerfiles and templates of CloudFormation, each by itself, and Terraform, a directory at a time, beside the rules.
import type { Parser } from 'web-tree-sitter';
import { failed, nothing, together, type Engine, type Finding, type InputFile, type Outcome } from '../contract.js';
import { Lines } from '../lines.js';
import { composeRules } from './compose/rules.js';
import { hasServices, isUnsettled, servicesOf } from './compose/services.js';
import { dockerRules } from './docker/rules.js';
import { stagesOf } from './docker/stages.js';
import { checkTemplate } from './cloudformation/check.js';
import { mayBeTemplate } from './cloudformation/template.js';
import { isCompose, mayBeCompose, mayBeTemplateFile } from './files.js';
import { findingsOf } from './findings.js';
import { Module, type SourceBlocks } from './terraform/resources.js';
import { terraformRules } from './terraform/rules.js';
import { loadParser, readBlocks } from './terraform/tree.js';

const unresolved = 'files of Terraform with values that are known only when it is applied';

const unsettled = 'Compose files with variables that have no default';

/** What `for_each` or `dynamic` repeats is one finding. */
function onePerPlace(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, path, line, message }) => {
    const key = [rule, path, line, message].join('\n');
    return !seen.has(key) && seen.add(key);
  });
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

export class IacEngine implements Engine {
  readonly #parser: Parser;
  /** Directory → its files. */
  readonly #modules = new Map<string, { readonly source: SourceBlocks; readonly lines: Lines }[]>();

  constructor(parser: Parser) {
    this.#parser = parser;
  }

  static async create(): Promise<IacEngine> {
    return new IacEngine(await loadParser());
  }

  take({ path, bytes }: InputFile): Outcome {
    const lines = new Lines(bytes.toString('utf8').replace(/^\ufeff/, ''));
    if (mayBeTemplateFile(path) && mayBeTemplate(lines.text)) {
      const outcome = checkTemplate(path, lines);
      if (outcome !== null) return outcome;
    }
    if (mayBeTemplateFile(path) && !mayBeCompose(path)) return nothing;
    if (mayBeCompose(path)) {
      if (!isCompose(path) && !hasServices(lines.text)) return nothing;
      const file = { path, lines };
      const services = servicesOf(lines.text);
      const findings = services.flatMap((service) =>
        composeRules.flatMap((rule) => findingsOf(rule, service, () => file)),
      );
      const notScanned = services.some(isUnsettled) ? [{ path, reason: unsettled, isFault: false }] : [];
      return { ...nothing, findings, notScanned, scanned: [path] };
    }
    if (!path.endsWith('.tf')) {
      const stages = stagesOf(lines.text);
      const findings = dockerRules.flatMap((rule) => findingsOf(rule, stages, () => ({ path, lines })));
      return { ...nothing, findings, scanned: [path] };
    }
    const read = { source: { path, blocks: readBlocks(this.#parser, lines.text) }, lines };
    const others = this.#modules.get(folderOf(path));
    if (others === undefined) this.#modules.set(folderOf(path), [read]);
    else others.push(read);
    return nothing;
  }

  end(): Outcome {
    return together([...this.#modules].map(([folder, files]) => this.#check(folder, files)));
  }

  #check(folder: string, files: readonly { readonly source: SourceBlocks; readonly lines: Lines }[]): Outcome {
    const linesOf = new Map(files.map(({ source, lines }) => [source.path, lines]));
    const paths = files.map(({ source }) => source.path);
    try {
      const module = new Module(files.map(({ source }) => source));
      const findings = terraformRules.flatMap((rule) =>
        findingsOf(rule, module, ({ path = paths[0] ?? folder }) => ({
          path,
          lines: linesOf.get(path) ?? new Lines(''),
        })),
      );
      const notScanned = [...module.unresolved].map((path) => ({ path, reason: unresolved, isFault: false }));
      return { ...nothing, findings: onePerPlace(findings), notScanned, scanned: paths };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return failed(folder, `directories whose files cannot be read together (${why.slice(0, 200)})`);
    }
  }
}
