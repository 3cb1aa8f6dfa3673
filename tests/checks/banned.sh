#!/usr/bin/env bash
# banned.sh - functions and constructs that are not used, whatever a compiler thinks of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Comments and texts are emptied first, so that a word in a sentence is no finding; lines are kept.
# A rule: what is looked for, the message, and the files it is not about (or, with "only", is).
git ls-files -co --exclude-standard -- '*.c' '*.h' | perl -e '
	use strict;
	use warnings;

	sub calls { return "(?<![A-Za-z0-9_.>])(?:" . join("|", @_) . ")\\s*\\("; }
	my @rules = (
		[calls(qw(gets strcpy strcat sprintf vsprintf strtok atoi atol system rand signal sleep)),
			"a banned function", qr{^$}],
		[calls(qw(strncpy strncat strtok_r usleep srand random localtime gmtime ctime asctime
			popen alloca setjmp longjmp)), "a banned function", qr{^$}],
		[calls(qw(malloc calloc realloc strdup strndup)), "use memory_allocate and friends",
			qr{^(common/base/memory\.c|tests/|bench/)}],
		[calls(qw(getenv secure_getenv)), "settings are passed down, nobody reads the environment",
			qr{^(common/base/(settings|failpoint)|common/service/|ctl/|tests/|bench/)}],
		[calls(qw(pthread_create thrd_create)), "threads only in ops.c",
			qr{^(common/service/ops|tests/|bench/)}],
		[calls(qw(exit _exit _Exit abort)), "nothing below a main function ends the process",
			qr{^(common/(base|service)/|ctl/|demo/|tests/|bench/)|/main\.c$}],
		["//", "comments are /* */", qr{^$}],
		["typedef\\s+(?:struct|enum|union)", "no typedef for structs and enums", qr{^$}],
		["\\bNDEBUG\\b", "NDEBUG is never defined", qr{^$}],
		["^\\s*#\\s*(?:ifdef|elif|if)\\b",
			"no conditional compiling outside compiler.h, failpoint.h and the home of a library",
			qr{^(common/base/(compiler|failpoint)\.h|common/io/(db|broker)|tests/|bench/)}],
	);
	my $wrong = 0;
	while (my $path = <STDIN>) {
		chomp $path;
		open(my $file, "<", $path) or next;
		local $/;
		my $code = <$file>;
		my @whole = split(/\n/, $code);
		$code =~ s{("(?:\\.|[^"\\\n])*")|(\x27(?:\\.|[^\x27\\\n])*\x27)|(/\*.*?\*/)}{
			my $n = ($& =~ tr/\n//); (defined $3 ? " " : "\"\"") . "\n" x $n}gse;
		my @lines = split(/\n/, $code);
		for my $rule (@rules) {
			my ($what, $message, $not) = @$rule;
			next if $path =~ $not;
			for my $i (0 .. $#lines) {
				next unless $lines[$i] =~ /$what/;
				print "$path:", $i + 1, ": $message\n";
				$wrong = 1;
			}
		}
		# Texts and comments count here.
		for my $i (0 .. $#whole) {
			next unless $whole[$i] =~ /insert\s+ignore/i || $whole[$i] =~ /\b(TODO(?!\(#\d+\):)|FIXME)\b/;
			print "$path:", $i + 1, ": ", $whole[$i] =~ /insert/i
				? "INSERT IGNORE hides every other mistake" : "write TODO(#123): or nothing", "\n";
			$wrong = 1;
		}
		local $/ = "\n";
	}
	exit $wrong;
'
