// Which offered option answers a permission request.
import { describe, expect, test } from 'vitest';
import { isConsent, onceInstead, optionToAllow, optionToDeny, readOptions } from '../../../src/policy/actions/permission-options.ts';

const option = (kind: string, optionId = kind, name = '') => ({ optionId, name, kind });

/** As recorded from the agents named. */
const CODEX = [
  option('allow_once', 'allow_once', 'Yes, proceed'),
  option('allow_always', 'accept_execpolicy_amendment', "Yes, and don't ask again"),
  option('reject_once', 'cancel', 'No, and tell Codex what to do differently'),
];
const GEMINI = [
  option('allow_always', 'proceed_always_server'),
  option('allow_once', 'proceed_once'),
  option('reject_once', 'cancel', 'Reject'),
];

test.each([
  ['codex', CODEX, 'allow_once', 'cancel'],
  ['gemini', GEMINI, 'proceed_once', 'cancel'],
  [
    'two of a kind',
    [option('reject_once', 'abort'), option('reject_once', 'no'), option('allow_once', 'allow_session'), option('allow_once', 'y')],
    'y',
    'no',
  ],
  ['two of a kind that both do more', [option('reject_once', 'abort'), option('reject_once', 'cancel')], undefined, 'abort'],
  ['only for always', [option('allow_always'), option('reject_always')], undefined, 'reject_always'],
  ['ids that lie', [option('reject_once', 'allow_once'), option('allow_once', 'reject_once')], 'reject_once', 'allow_once'],
  ['nothing', [], undefined, undefined],
])('of the options of %s, allow takes %3$s and deny %4$s', (_, options, allow, deny) => {
  expect(optionToAllow(options)?.optionId).toBe(allow);
  expect(optionToDeny(options)?.optionId).toBe(deny);
});

test.each([
  ['allow_always', 'allow_once'],
  ['reject_always', 'reject_once'],
  ['allow_once', 'allow_once'],
  ['reject_once', 'reject_once'],
])('the agent receives %s as %s', (chosen, sent) => {
  const options = ['allow_once', 'allow_always', 'reject_once', 'reject_always'].map((kind) => option(kind));
  expect(onceInstead(options, option(chosen)).kind).toBe(sent);
});

test('an "always" choice stays if the agent offers nothing else', () => {
  expect(onceInstead([option('allow_always')], option('allow_always')).kind).toBe('allow_always');
  expect(onceInstead([option('reject_always'), option('allow_once')], option('reject_always')).kind).toBe('reject_always');
});

test.each([[undefined], [null], ['options'], [{ optionId: 'x', kind: 'allow_once' }]])(
  'anything but a list offers nothing: %j',
  (offered) => {
    expect(readOptions(offered)).toEqual([]);
  },
);

test('invalid entries are left out', () => {
  expect(readOptions([null, 5, {}, { optionId: 1, kind: 'allow_once' }, { optionId: 'a' }, { optionId: 'b', kind: 'k' }])).toEqual([
    { optionId: 'b', kind: 'k', name: '' },
  ]);
});

describe('a label counts as much as the kind', () => {
  test.each(['Reject', 'No', 'no, thanks', 'Deny', "Don't run it", 'Do not run', 'Cancel', '✗ Decline', 'Never', 'Always reject'])(
    '"%s" for an option that allows is not offered',
    (name) => {
      expect(readOptions([option('allow_once', 'a', name), option('allow_always', 'b', name)])).toEqual([]);
    },
  );

  test.each(['Allow', 'Yes', 'Approve', 'OK', 'Accept', 'Run it', 'Always allow', '✓ Yes'])(
    '"%s" for an option that rejects is not offered',
    (name) => {
      expect(readOptions([option('reject_once', 'a', name), option('reject_always', 'b', name)])).toEqual([]);
    },
  );

  test.each([...CODEX, ...GEMINI, option('allow_once', 'x', 'Manually approve edits'), option('reject_once', 'y', 'Keep planning')])(
    'what agents really offer stays: %j',
    (offered) => {
      expect(readOptions([offered])).toEqual([offered]);
    },
  );

  test('consent is a matter of the kind, in any language, unless the label contradicts it or there is none', () => {
    expect(isConsent(option('allow_once', 'a', 'Yes, proceed'))).toBe(true);
    expect(isConsent(option('allow_always', 'a', 'Always allow'))).toBe(true);
    expect(isConsent(option('allow_always', 'a', 'Immer erlauben'))).toBe(true);
    expect(isConsent(option('allow_always', 'a', '常に許可'))).toBe(true);
    expect(isConsent(option('allow_once', 'a', 'Continue'))).toBe(true);
    expect(isConsent(option('allow_once', 'a', 'Reject'))).toBe(false);
    expect(isConsent(option('allow_once', 'a', ''))).toBe(false);
    expect(isConsent(option('allow_everything', 'a', 'Yes'))).toBe(false);
    expect(isConsent(option('reject_once', 'a', 'Yes'))).toBe(false);
  });
});
