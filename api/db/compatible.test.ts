// What a migration may do that says an older release works with it.
import t from 'tap';
import { compareReleases } from '../release.js';
import { worksWith } from './compatible.js';

t.test('expanding is let through, contracting is refused by its name', async (t) => {
  const table: [string, RegExp | null][] = [
    ['create table a (id integer primary key, b text not null unique)', null],
    ['create table a (id integer); alter table a add constraint c unique (id); create unique index d on a (id)', null],
    ['alter table a add column b text', null],
    ["alter table a add column b text not null default ''", null],
    ['ALTER TABLE a ADD b integer GENERATED ALWAYS AS (1) STORED NOT NULL', null],
    ['create index a on b (c)', null],
    ["insert into a values ('drop table b; rename')", null],
    ['-- drop table b\n/* rename */ select 1', null],
    ['alter table a alter column b drop not null', null],
    ['alter table a alter b set default 1', null],
    ['drop table a', /drops something/],
    ['alter table a drop column b', /drops something/],
    ['DROP\n INDEX a', /drops something/],
    ['alter table a rename to b', /renames something/],
    ['alter table a alter column b type bigint', /changes the type/],
    ['alter table a alter b set data type bigint', /changes the type/],
    ['alter table a alter column b set not null', /forbids null/],
    ['alter table a add column b text not null', /do not fill/],
    ['alter table a add column c text default 1, add b text not null', /do not fill/],
    ['alter table a add check (b > 0)', /adds a constraint/],
    ['alter table a add constraint c foreign key (b) references d (e)', /adds a constraint/],
    ['create unique index a on b (c)', /adds a constraint/],
    ['create trigger a before insert on b execute function c()', /adds a trigger/],
    ['delete from a', /removes rows/],
    ['truncate a', /removes rows/],
    ['create table x (id integer); drop table a', /drops something/],
  ];
  for (const [text, refused] of table) {
    const marked = `-- a comment\n-- works with release 1.2.3\n${text};`;
    if (refused === null) t.equal(worksWith('x 1 (y)', marked), '1.2.3', text);
    else t.throws(() => worksWith('x 1 (y)', marked), refused, text);
    t.equal(worksWith('x 1 (y)', text), null, 'without the line nothing is claimed');
  }
  t.throws(() => worksWith('x 1 (y)', '-- works with release next\nselect 1'), /"next" is no release/);
});

t.test('releases are compared by number', async (t) => {
  const ordered = ['0.1.0', '0.1.1', '0.2.0', '0.10.0', '1.0.0', '1.0.10'];
  for (const [at, a] of ordered.entries())
    for (const [other, b] of ordered.entries())
      t.equal(Math.sign(compareReleases(a, b)), Math.sign(at - other), `${a} ${b}`);
  t.equal(compareReleases('1.0.0-rc.1', '1.0.0+build'), 0);
});
