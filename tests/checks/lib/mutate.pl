#!/usr/bin/env perl
# mutate.pl LIST [NAME]: applies the mutation NAME of LIST; without NAME, tells which of all would not
# apply: each text has to be in its file once. Status 1: it does not apply.
use strict;
use warnings;

my ($list, $wanted) = @ARGV;
my ($name, $file, $part, $old, $new) = ("", "", "", "", "");
my $status = 0;

sub read_all {
	my ($path) = @_;
	open(my $source, "<", $path) or return undef;
	local $/;
	return scalar <$source>;
}

sub take {
	my $text = read_all($file) // "";
	my $count = () = $text =~ /\Q$old\E/g;
	if ($count != 1) {
		print STDERR "$name: $file holds the text $count times\n";
		$status = 1;
		return;
	}
	return if !defined $wanted;
	$text =~ s/\Q$old\E/$new/;
	open(my $target, ">", $file) or die "$file: $!\n";
	print $target $text;
	close($target) or die "$file: $!\n";
}

open(my $in, "<", $list) or die "$list: $!\n";
while (my $line = <$in>) {
	if ($part eq "" && $line =~ /^mutation\s+(\S+)/) { $name = $1; }
	elsif ($part eq "" && $line =~ /^file\s+(\S+)/) { $file = $1; }
	elsif ($line eq "<<<\n") { ($part, $old, $new) = ("old", "", ""); }
	elsif ($line eq "===\n") { $part = "new"; }
	elsif ($line eq ">>>\n") { take() if !defined $wanted || $name eq $wanted; $part = ""; }
	elsif ($part eq "old") { $old .= $line; }
	elsif ($part eq "new") { $new .= $line; }
}
exit $status;
