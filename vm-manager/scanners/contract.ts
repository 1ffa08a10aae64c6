// The one contract of all scanners: what a rule is, what a finding is, and what an engine does with files. An engine
// runs in a process of its own (run/engine-process.ts), sees bytes and never a disk, and is asked for one file at a
// time.
import type { Severity } from '../findings/words.js';
import type { ScanResult } from './run/result.js';

/** Scanners of files; `container` looks at images. */
export const fileKinds = ['secrets', 'sast', 'sca', 'iac', 'k8s'] as const;
export type FileKind = (typeof fileKinds)[number];
export const scanKinds = [...fileKinds, 'container'] as const;
export type ScanKind = (typeof scanKinds)[number];

/** Of all rules together: it says which of them made a report. */
export const packVersion = '1.0.0';

/** A rule as people see it; how it looks is the engine's own. */
export interface Rule {
  readonly id: string;
  /** Grows when what it finds changes; no part of a fingerprint. */
  readonly version: number;
  readonly title: string;
  readonly severity: Severity;
  readonly cwes: readonly number[];
  /** What is wrong, and what follows of it. */
  readonly description: string;
  /** What to do. */
  readonly remediation: string;
  /** Ids under which others know the same: `AWS-0107`. */
  readonly knownAs?: readonly string[];
}

/** A place on the way of data through a file. */
export interface FlowStep {
  readonly line: number;
  /** What happens there, for people. */
  readonly what: string;
  readonly snippet?: string;
}

export interface Finding {
  readonly rule: string;
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly endLine?: number;
  readonly column?: number;
  /** What was found here, for people; a secret is masked in it. */
  readonly message: string;
  /** Where it differs from the rule's. */
  readonly severity?: Severity;
  /** Of a resource: `aws_s3_bucket.logs`, `Deployment/shop`. */
  readonly address?: string;
  /** The line itself; never of a secret. */
  readonly snippet?: string;
  /** Stable while lines move; without it the importer goes by rule, path and snippet. */
  readonly fingerprint?: string;
  /** By which way foreign data comes there: its source, the steps between, the place of the finding. */
  readonly flow?: readonly FlowStep[];
  /** It is set aside in the source, and why. */
  readonly suppressed?: string;
  /** By a baseline, and not in the source. */
  readonly isOfBaseline?: true;
}

/** A package that a lock file, a manifest or a bill lists. */
export interface FoundPackage {
  readonly purl: string;
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly line: number | null;
  readonly scope: 'runtime' | 'development';
  readonly relation: 'direct' | 'transitive' | 'unknown';
  /** Of an image: the layer that brought it, from 1. */
  readonly layer?: number;
}

/** What an object of a cluster says of who may do what there, and of what runs: never the content of a secret. */
export interface ClusterObject {
  readonly kind: 'role' | 'binding' | 'workload' | 'namespace' | 'account' | 'token';
  /** As Kubernetes calls it: `ClusterRole`, `Deployment`. */
  readonly type: string;
  /** Empty: of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * How much a source is of what it belongs to. Of a `part` only findings in files that were looked at are closed; what a
 * `whole` checkout no longer has is gone.
 */
export const extents = ['part', 'whole'] as const;
export type Extent = (typeof extents)[number];

/** What was not looked at. A fault makes the scan incomplete; what is left out on purpose does not. */
export interface NotScanned {
  readonly path: string;
  readonly reason: string;
  readonly isFault: boolean;
  /** It has to do with this run and not with the file: a time that was over, a file that could not be read. */
  readonly isOfRun?: true;
  /** The engine says it, of a file that it was given. */
  readonly isOfEngine?: true;
}

export interface InputFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** What an engine has to say of a file, or at the end of all. */
export interface Outcome {
  readonly findings: readonly Finding[];
  readonly packages: readonly FoundPackage[];
  readonly notScanned: readonly NotScanned[];
  /** Files that were read to their end; those of a step that reads several together come with `end`. */
  readonly scanned: readonly string[];
  readonly objects?: readonly ClusterObject[];
}

export interface Engine {
  /** Reads one file; throws for one that it cannot read: that is counted, and the next one follows. */
  take(file: InputFile): Outcome | Promise<Outcome>;
  /** What needs all files together. */
  end(): Outcome | Promise<Outcome>;
}

/**
 * A scanner: its rules as data, which files it wants, and its engine, which is loaded in the engine's process alone.
 */
export interface Scanner {
  readonly kind: ScanKind;
  /** As reports name it. */
  readonly tool: string;
  readonly label: string;
  readonly rules: readonly Rule[];
  /** It reads files beside each other: what it knows of them ends with its process. */
  readonly joinsFiles: boolean;
  /** Of a file that it wants: it means something beside others only, so that a part of the source proves nothing. */
  readonly joins?: (path: string) => boolean;
  /** Larger files are a fault: they are not read. */
  readonly fileBytesMax: number;
  /** By its path alone; a text: it is left out on purpose, and why. */
  wants(path: string): boolean | string;
  /** Of a file that a person has named by itself: it knows by what is in it whether it is one of its own. */
  readonly wantsNamed?: (path: string) => boolean;
  createEngine(): Promise<Engine>;
  /** What the importer is given, where that is no SARIF. */
  readonly toReport?: (result: ScanResult) => object;
  /** It has findings beside what `toReport` tells. */
  readonly alsoSarif?: true;
}

export const nothing: Outcome = { findings: [], packages: [], notScanned: [], scanned: [] };

/** Left out on purpose: it is reported, and the scan is whole. */
export const leftOut = (path: string, reason: string): Outcome => ({
  ...nothing,
  notScanned: [{ path, reason, isFault: false }],
});

/** It ought to have been read. */
export const failed = (path: string, reason: string): Outcome => ({
  ...nothing,
  notScanned: [{ path, reason, isFault: true }],
});

/** Several as one. */
export function together(all: readonly Outcome[]): Outcome {
  return {
    findings: all.flatMap(({ findings }) => findings),
    packages: all.flatMap(({ packages }) => packages),
    notScanned: all.flatMap(({ notScanned }) => notScanned),
    scanned: all.flatMap(({ scanned }) => scanned),
    objects: all.flatMap(({ objects }) => objects ?? []),
  };
}
