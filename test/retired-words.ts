// The words that neither the code nor the documents use any more.

/** Words that this project once used for something that has a usual name. Words with a second, ordinary meaning are not listed. */
export const RETIRED_WORDS = new RegExp(
  `\\b(?:${[
    ...['lent', 'lend(?:s|ing|er)?', 'loans?', 'errands?', 'tongues?', 'deeds?', 'mend(?:s|ed|ing)?', 'beside', 'whoever', 'whomever'],
    ...[
      'onlookers?',
      'overlong',
      'abridge[sd]?',
      'two-faced',
      'such a one',
      'be it that',
      'of ours',
      'by and by',
      'for ever',
      'in good order',
    ],
    ...[
      'call(?:s|ed|ing)? off',
      't(?:ak(?:e|es|en|ing)|ook) back',
      'wr(?:ites?|itten|ote) down',
      'somebody',
      'anybody',
      'judg(?:e[ds]?|ing)',
    ],
  ].join('|')})\\b`,
  'gi',
);
