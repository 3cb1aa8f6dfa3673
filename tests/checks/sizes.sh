#!/usr/bin/env bash
# sizes.sh - the limits on files and lines; functions are measured by clang-tidy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

git ls-files -co --exclude-standard -- '*.c' '*.h' '*.sh' scripts .ci | perl -e '
	use strict;
	use warnings;

	my $wrong = 0;
	sub finding { print "@_\n"; $wrong = 1; }
	while (my $path = <STDIN>) {
		chomp $path;
		open(my $file, "<:utf8", $path) or next;
		my ($limit, $number) = ($path =~ /\.h$/ ? 120 : 400, 0);
		while (my $line = <$file>) {
			$number++;
			chomp $line;
			finding("$path:$number: blanks at the end of the line") if $line =~ /\s$/;
			next unless $path =~ /\.[ch]$/;
			my $width = 0;
			$width = $_ eq "\t" ? $width + 8 - $width % 8 : $width + 1 for split(//, $line);
			finding("$path:$number: $width wide, the limit is 100") if $width > 100;
		}
		finding("$path: $number lines, the limit is $limit") if $number > $limit;
	}
	exit $wrong;
'
