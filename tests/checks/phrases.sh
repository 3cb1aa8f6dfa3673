#!/usr/bin/env bash
# phrases.sh - every text of the console stands in the list of phrases with its Chinese, sorted, and
# nothing is left over; so do the names of columns and filters of the lists.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

perl -e '
	use strict;
	use warnings;
	use utf8;
	binmode(STDOUT, ":utf8");

	my $wrong = 0;
	sub finding { print "@_\n"; $wrong = 1; }
	sub slurp { open(my $f, "<:utf8", $_[0]) or die "$_[0]: $!"; local $/; return scalar <$f>; }
	my $text = qr/"((?:\\.|[^"\\])*)"/;
	sub join_texts { return join("", $_[0] =~ /$text/g); }

	my %chinese;
	sub read_list {
		my ($list) = @_;
		my @order;
		my $phrases = slurp($list);
		while ($phrases =~ /\{\s*((?:$text\s*)+),\s*((?:$text\s*)+)\}/g) {
			my ($english, $other) = (join_texts($1), join_texts($3));
			$chinese{$english} = $other;
			push @order, $english =~ s/\\"/"/gr;
			finding("$list: \"$english\" has no Chinese") if $other eq "";
			for my $place ("{1}", "{2}") {
				finding("$list: $place of \"$english\" is not in both")
					if (index($english, $place) >= 0) != (index($other, $place) >= 0);
			}
		}
		for my $i (1 .. $#order) {
			finding("$list: \"$order[$i]\" is out of order") if $order[$i - 1] ge $order[$i];
		}
		return @order;
	}
	my @order = read_list("console/phrase_list.c");
	read_list("console/phrase_names.c");

	my %used;
	for my $path (glob("console/*.c")) {
		my $source = slurp($path);
		while ($source =~ /PHRASE\(\s*((?:$text\s*)+)\)/g) {
			my $english = join_texts($1);
			$used{$english =~ s/\\"/"/gr} = 1;
			finding("$path: \"$english\" has no Chinese") unless exists $chinese{$english};
		}
	}
	for my $path (glob("common/report/listing_*.c")) {
		my $source = slurp($path);
		for my $name ($source =~ /LISTING_[A-Z]+_COLUMN\("?([a-z_0-9]+)/g,
			$source =~ /_FILTER_[A-Z_]+\]\s*=\s*\{\s*"([a-z_0-9]+)"/g) {
			finding("$path: the name $name has no Chinese") unless exists $chinese{$name};
		}
	}
	for my $english (@order) {
		finding("console/phrase_list.c: nobody says \"$english\"") unless $used{$english};
	}
	exit $wrong;
'
