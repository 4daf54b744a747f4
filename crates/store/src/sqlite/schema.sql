CREATE TABLE process (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    successes INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    -- How often it is expected to work: (successes + 1) / (successes + failures + 2).
    merit REAL NOT NULL DEFAULT 0.5
) STRICT;
CREATE INDEX process_by_merit ON process (merit DESC, name);

CREATE TABLE version (
    process INTEGER NOT NULL REFERENCES process (key) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    saved_ns INTEGER NOT NULL,
    source TEXT NOT NULL,
    description TEXT NOT NULL,
    -- JSON arrays of texts.
    steps TEXT NOT NULL,
    tags TEXT NOT NULL,
    plan TEXT,
    when_to_use TEXT,
    PRIMARY KEY (process, version)
) STRICT;

CREATE TABLE outcome (
    key INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES process (key) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    worked INTEGER NOT NULL,
    note TEXT,
    recorded_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX outcome_by_process ON outcome (process);

-- In how many processes a word stands: tells which words of a query are worth looking up.
CREATE TABLE vocabulary (word TEXT PRIMARY KEY, processes INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The newest versions' words, already folded; rowid is process.key.
CREATE VIRTUAL TABLE words USING fts5 (
    name, tags, about, steps,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);
