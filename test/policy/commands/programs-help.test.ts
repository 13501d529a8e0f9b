// Compares the program table with what the programs say about themselves, and checks that the table refers only to what it has.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Program, Subcommand } from '../../../src/policy/commands/program.ts';
import { ARITY_DIFFERS, REDEFINED, UNMODELLED } from '../fixtures/help/differences.ts';
import { type Arity, optionsOf, readSnapshot, spellingsOf } from './help-options.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const FAMILIES = path.join(ROOT, 'src/policy/commands/programs');
const SNAPSHOTS = path.join(ROOT, 'test/policy/fixtures/help');

const isProgram = (value: unknown): value is Program =>
  typeof value === 'object' && value !== null && 'name' in value && 'manual' in value && 'parse' in value;

/** Every family is found on the disk, so a new one cannot be forgotten here. */
const exported: unknown[] = [];
for (const file of readdirSync(FAMILIES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')))
  exported.push(...Object.values((await import(path.join(FAMILIES, file))) as object));
const programs = [...new Set(exported.flat().filter(isProgram))];
const byName = new Map(programs.flatMap((program) => [program.name, ...(program.aliases ?? [])].map((name) => [name, program] as const)));

const sections = readdirSync(SNAPSHOTS)
  .filter((file) => file.endsWith('.txt'))
  .flatMap((file) => readSnapshot(readFileSync(path.join(SNAPSHOTS, file), 'utf8')))
  .map(({ command: [program = '', ...subcommands], options }) => {
    const name = path.basename(program);
    return { title: [name, ...subcommands].join(' '), name, subcommands, options };
  });

describe('the options that a program names in its help', () => {
  test('every snapshot has options, and belongs to a program of the table', () => {
    expect(sections.length).toBeGreaterThan(90);
    for (const { title, name, subcommands, options } of sections) {
      expect(options.size, title).toBeGreaterThan(0);
      const program = byName.get(name);
      expect(program && optionsOf(program, subcommands), title).toBeDefined();
    }
  });

  test.each(sections)('$title: the table agrees on arity, and misses only what is listed', ({ title, name, subcommands, options }) => {
    const program = byName.get(name);
    const table: ReadonlyMap<string, Arity> = (program && optionsOf(program, subcommands)) ?? new Map();
    const differing: string[] = [];
    const missing: string[] = [];
    for (const [spelling, arities] of options) {
      const arity = table.get(spelling);
      if (arity === undefined) missing.push(spelling);
      // `--check, --check=HOW`: both are said, so the value is optional.
      else if (arities.size > 1 ? arity !== 'attached' : !arities.has(arity)) differing.push(spelling);
    }
    expect(differing.sort()).toEqual(Object.keys(ARITY_DIFFERS[title] ?? {}).sort());
    expect(missing.sort()).toEqual((UNMODELLED[title] ?? '').split(' ').filter(Boolean).sort());
  });

  test('exceptions are listed only for programs that have a snapshot', () => {
    const titles = new Set(sections.map(({ title }) => title));
    expect([...Object.keys(ARITY_DIFFERS), ...Object.keys(UNMODELLED)].filter((title) => !titles.has(title))).toEqual([]);
  });
});

type Level = { readonly title: string; readonly data: Program | Subcommand; readonly above: readonly (Program | Subcommand)[] };

const levels = (title: string, data: Program | Subcommand, above: readonly (Program | Subcommand)[] = []): readonly Level[] => [
  { title, data, above },
  ...Object.entries(data.commands ?? {}).flatMap(([name, below]) => levels(`${title} ${name}`, below, [...above, data])),
];
const everyLevel = programs.flatMap((program) => levels(program.name, program));

const keysOf = (data: Program | Subcommand): string[] => [
  ...Object.keys(data.options ?? {}),
  ...Object.keys(('before' in data && data.before) || {}),
];
const firstSpellings = (data: Program | Subcommand): string[] =>
  keysOf(data).map((key) => (key.split(' ')[0] ?? '').replace(/(\[=\]|=)$/, ''));

describe('every entry of the program table', () => {
  test('no two programs have the same name', () => {
    const names = programs.flatMap((program) => [program.name, ...(program.aliases ?? [])]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.length).toBeGreaterThan(100);
  });

  test.each(programs)('$name names its manual and a version', ({ manual }) => {
    expect(manual).toMatch(/\d/);
    expect(manual.length).toBeGreaterThan(8);
  });

  test.each(everyLevel)('$title spells no option twice', ({ title, data }) => {
    const spellings = Object.keys(data.options ?? {}).flatMap((key) => [...spellingsOf({ [key]: 'none' }).keys()]);
    const repeated = spellings.filter((spelling, index) => spellings.indexOf(spelling) !== index);
    expect(repeated.sort()).toEqual((REDEFINED[title] ?? '').split(' ').filter(Boolean));
    for (const spelling of spellings) expect(spelling).toMatch(data.parse === 'keys' ? /^\S+$/ : /^(--?\S+|[a-z]+)$/);
  });

  test.each(everyLevel)('$title refers to options by their first spelling', ({ data, above }) => {
    const known = new Set([...above, data].flatMap(firstSpellings));
    const named = [
      ...(data.operands ?? []).flatMap((form) => [...(form.if ?? []), ...(form.unless ?? [])]),
      ...Object.keys(data.turns ?? {}),
      ...Object.keys(data.widens ?? {}),
      ...(data.needs ?? []).flat(),
    ];
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test.each(everyLevel)('$title has a type for each option that fits its arity', ({ data }) => {
    for (const [key, types] of Object.entries(data.options ?? {})) {
      const takesValue = key.includes('=');
      for (const type of [types].flat()) {
        if (['number', 'text', 'date', 'pattern', 'glob', 'revision'].includes(type) || type.startsWith('one:'))
          expect(takesValue, key).toBe(true);
        if (type === 'none') expect(takesValue, key).toBe(false);
        if (type.startsWith('one:')) expect(type.slice(4).split(',')).not.toContain('');
      }
    }
    for (const form of data.operands ?? []) if (form.match !== undefined) expect(() => new RegExp(form.match ?? '')).not.toThrow();
  });
});
