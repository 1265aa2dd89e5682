; Made by llvm_from_c.py from sources with the digest 10553fe38a2a103c9b77d9cf48eab0ba
; with ziglang 0.17.1

%struct.anon = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, [8 x i8], i64, [56 x i8], i64, [56 x i8], [256 x %struct.worker] }
%struct.worker = type { i64, ptr, [48 x i8] }

@pool = internal global %struct.anon zeroinitializer, align 64

define ptr @thread_pool() nounwind {
  ret ptr @pool
}

define void @hold_chunks() {
  %1 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160) monotonic, align 32
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %3 = tail call i64 %2()
  %4 = icmp eq i64 %1, %3
  br i1 %4, label %5, label %30

5:
  %6 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  %7 = add i64 %6, 1
  store i64 %7, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  %8 = icmp eq i64 %6, 0
  br i1 %8, label %9, label %30

9:
  %10 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 0 acq_rel, align 64
  %11 = tail call i64 @llvm.smax.i64(i64 %10, i64 0)
  store i64 %11, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  %12 = shl nuw i64 %11, 1
  %13 = add i64 %12, 2
  %14 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %13 acq_rel, align 64
  br label %18

15:
  %16 = add nuw nsw i64 %19, 1
  %17 = icmp eq i64 %16, 16384
  br i1 %17, label %22, label %18

18:
  %19 = phi i64 [ 0, %9 ], [ %16, %15 ]
  %20 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) acquire, align 64
  %21 = icmp eq i64 %20, 0
  br i1 %21, label %29, label %15

22:
  %23 = atomicrmw or ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 1 acq_rel, align 64
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %29, label %25

25:
  %26 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %27 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %28 = tail call i32 %26(ptr %27, i32 1)
  br label %29

29:
  store atomic i64 %13, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) monotonic, align 64
  br label %30

30:
  ret void
}

define void @resume_chunks() {
  %1 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160) monotonic, align 32
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %3 = tail call i64 %2()
  %4 = icmp eq i64 %1, %3
  %5 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  %6 = icmp ne i64 %5, 0
  %7 = select i1 %4, i1 %6, i1 false
  br i1 %7, label %8, label %46

8:
  %9 = add i64 %5, -1
  store i64 %9, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  %10 = icmp eq i64 %9, 0
  br i1 %10, label %11, label %46

11:
  %12 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  store atomic i64 %12, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %13 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112), align 16
  %14 = icmp sgt i64 %13, 1
  br i1 %14, label %15, label %46

15:
  %16 = phi i64 [ %44, %40 ], [ 1, %11 ]
  %17 = phi i64 [ %43, %40 ], [ 0, %11 ]
  %18 = phi i64 [ %42, %40 ], [ 0, %11 ]
  %19 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %20 = add i64 %17, 2
  %21 = icmp ne i64 %17, 9223372036854775806
  %22 = icmp slt i64 %16, %19
  %23 = select i1 %21, i1 %22, i1 false
  br i1 %23, label %24, label %40

24:
  %25 = phi i64 [ %34, %33 ], [ %16, %15 ]
  %26 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %25
  %27 = atomicrmw xchg ptr %26, i64 0 seq_cst, align 64
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %33, label %29

29:
  %30 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %31 = getelementptr inbounds nuw i8, ptr %26, i64 8
  %32 = load ptr, ptr %31, align 8
  tail call void %30(ptr %32)
  br label %33

33:
  %34 = add nsw i64 %25, 1
  %35 = icmp slt i64 %25, %20
  %36 = icmp slt i64 %34, %19
  %37 = select i1 %35, i1 %36, i1 false
  br i1 %37, label %24, label %38

38:
  %39 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112), align 16
  br label %40

40:
  %41 = phi i64 [ %39, %38 ], [ %19, %15 ]
  %42 = add i64 %18, 1
  %43 = shl i64 %42, 1
  %44 = or disjoint i64 %43, 1
  %45 = icmp slt i64 %44, %41
  br i1 %45, label %15, label %46

46:
  ret void
}

define void @forget_threads() {
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), align 8
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  store i64 1, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 72), align 8
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %1 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160) monotonic, align 32
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %3 = tail call i64 %2()
  %4 = icmp eq i64 %1, %3
  br i1 %4, label %5, label %10

5:
  %6 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  %7 = icmp eq i64 %6, 0
  br i1 %7, label %11, label %8

8:
  %9 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 176), align 16
  store i64 %9, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), align 64
  br label %11

10:
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160), align 32
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), align 8
  br label %11

11:
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 168), align 8
  ret void
}

define i64 @with_limit(ptr %0, ptr %1) {
  %3 = getelementptr inbounds i8, ptr %1, i64 -8
  %4 = load ptr, ptr %3, align 8
  %5 = ptrtoint ptr %4 to i64
  %6 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %7 = icmp eq ptr %6, null
  br i1 %7, label %36, label %8

8:
  %9 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), i64 1 acquire, align 8
  %10 = icmp eq i64 %9, 0
  br i1 %10, label %11, label %8

11:
  %12 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %13 = tail call i32 %12()
  %14 = sext i32 %13 to i64
  %15 = icmp eq ptr %4, null
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  br i1 %15, label %23, label %17

17:
  %18 = add i64 %16, 1
  store i64 %18, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %19 = icmp eq i64 %16, 0
  br i1 %19, label %20, label %21

20:
  store i64 %14, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  br label %21

21:
  %22 = icmp slt i64 %5, %14
  br i1 %22, label %31, label %35

23:
  %24 = icmp sgt i64 %16, 0
  br i1 %24, label %25, label %35

25:
  %26 = add nsw i64 %16, -1
  store i64 %26, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %27 = icmp ne i64 %26, 0
  %28 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %29 = icmp eq i64 %28, %14
  %30 = select i1 %27, i1 true, i1 %29
  br i1 %30, label %35, label %31

31:
  %32 = phi i64 [ %5, %21 ], [ %28, %25 ]
  %33 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %34 = trunc i64 %32 to i32
  tail call void %33(i32 %34)
  br label %35

35:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200) release, align 8
  br label %36

36:
  %37 = getelementptr inbounds i8, ptr %1, i64 -16
  %38 = load ptr, ptr %37, align 8
  %39 = tail call i64 %38(ptr %0, ptr %1)
  %40 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %41 = icmp eq ptr %40, null
  br i1 %41, label %61, label %42

42:
  %43 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), i64 1 acquire, align 8
  %44 = icmp eq i64 %43, 0
  br i1 %44, label %45, label %42

45:
  %46 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %47 = tail call i32 %46()
  %48 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %49 = icmp sgt i64 %48, 0
  br i1 %49, label %50, label %60

50:
  %51 = sext i32 %47 to i64
  %52 = add nsw i64 %48, -1
  store i64 %52, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %53 = icmp ne i64 %52, 0
  %54 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %55 = icmp eq i64 %54, %51
  %56 = select i1 %53, i1 true, i1 %55
  br i1 %56, label %60, label %57

57:
  %58 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %59 = trunc i64 %54 to i32
  tail call void %58(i32 %59)
  br label %60

60:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200) release, align 8
  br label %61

61:
  ret i64 %39
}

define i64 @parallel(ptr %0, ptr %1, i64 %2, i64 %3, ptr %4, ptr %5, i64 %6, i64 %7, i64 %8, ptr %9) {
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 16
  %12 = load ptr, ptr %11, align 8
  %13 = icmp eq i64 %8, 0
  %14 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 72), align 8
  %15 = select i1 %13, i64 %14, i64 %8
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 80), align 16
  %17 = mul i64 %16, 3
  %18 = icmp sgt i64 %6, %17
  %19 = tail call i64 @llvm.smin.i64(i64 %15, i64 256)
  %20 = select i1 %18, i64 %19, i64 1
  %21 = sdiv i64 %6, %16
  %22 = add i64 %21, 1
  %23 = tail call i64 @llvm.smin.i64(i64 %20, i64 %22)
  %24 = sub i64 %3, %2
  %25 = sitofp i64 %24 to double
  %26 = fmul double %25, 1.000000e+07
  %27 = add i64 %6, 1
  %28 = sitofp i64 %27 to double
  %29 = fdiv double %26, %28
  %30 = fptosi double %29 to i64
  %31 = tail call i64 @llvm.smin.i64(i64 %23, i64 %24)
  %32 = icmp eq ptr %9, null
  %33 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %34 = icmp eq ptr %33, null
  %35 = select i1 %32, i1 true, i1 %34
  br i1 %35, label %52, label %36

36:
  %37 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), i64 1 acquire, align 8
  %38 = icmp eq i64 %37, 0
  br i1 %38, label %39, label %36

39:
  %40 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %41 = tail call i32 %40()
  %42 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %43 = add i64 %42, 1
  store i64 %43, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %44 = icmp eq i64 %42, 0
  br i1 %44, label %45, label %47

45:
  %46 = sext i32 %41 to i64
  store i64 %46, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  br label %47

47:
  %48 = icmp sgt i32 %41, 1
  br i1 %48, label %49, label %51

49:
  %50 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  tail call void %50(i32 1)
  br label %51

51:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200) release, align 8
  br label %52

52:
  %53 = icmp sgt i64 %31, 1
  br i1 %53, label %55, label %54

54:
  br label %138

55:
  %56 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104), i64 1 acquire, align 8
  %57 = icmp eq i64 %56, 0
  br i1 %57, label %58, label %54

58:
  %59 = tail call i64 @llvm.smax.i64(i64 %7, i64 %30)
  %60 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %61 = icmp eq ptr %60, null
  br i1 %61, label %62, label %70

62:
  %63 = load ptr, ptr @pool, align 64
  %64 = tail call ptr %63()
  %65 = icmp eq ptr %64, null
  br i1 %65, label %66, label %67

66:
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  br label %101

67:
  %68 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %69 = tail call i32 %68(ptr %64, i32 1)
  store ptr %64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  br label %70

70:
  %71 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %72 = add i64 %71, 1
  %73 = icmp slt i64 %72, %31
  br i1 %73, label %74, label %97

74:
  %75 = phi i64 [ %95, %92 ], [ %72, %70 ]
  %76 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %75
  store i64 0, ptr %76, align 64
  %77 = load ptr, ptr @pool, align 64
  %78 = tail call ptr %77()
  %79 = icmp eq ptr %78, null
  br i1 %79, label %80, label %82

80:
  %81 = getelementptr inbounds nuw i8, ptr %76, i64 8
  store ptr null, ptr %81, align 8
  br label %97

82:
  %83 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %84 = tail call i32 %83(ptr %78, i32 1)
  %85 = getelementptr inbounds nuw i8, ptr %76, i64 8
  store ptr %78, ptr %85, align 8
  %86 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 24), align 8
  %87 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %88 = add i64 %87, 1
  %89 = inttoptr i64 %88 to ptr
  %90 = tail call i64 %86(ptr @run_worker, ptr %89)
  %91 = icmp eq i64 %90, -1
  br i1 %91, label %97, label %92

92:
  %93 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %94 = add i64 %93, 1
  store i64 %94, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %95 = add i64 %93, 2
  %96 = icmp slt i64 %95, %31
  br i1 %96, label %74, label %97

97:
  %98 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 96), align 32
  %99 = add i64 %98, 1
  %100 = tail call i64 @llvm.smin.i64(i64 %99, i64 %31)
  br label %101

101:
  %102 = phi i64 [ %100, %97 ], [ 1, %66 ]
  %103 = shl i64 %24, 1
  %104 = sdiv i64 %103, %59
  %105 = shl i64 %102, 2
  %106 = icmp sgt i64 %105, %104
  %107 = add i64 %104, 1
  %108 = select i1 %106, i64 %105, i64 %107
  store ptr %0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  store ptr %1, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  store i64 %2, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 224), align 32
  store i64 %3, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 232), align 8
  store ptr %4, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 144), align 16
  store i64 %108, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 240), align 16
  store ptr %9, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  store i64 9223372036854775807, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  store i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %109 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  %110 = add i64 %109, 1
  store i64 %110, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  store atomic i64 %102, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %111 = shl i64 %108, 1
  store atomic i64 %111, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) monotonic, align 64
  store atomic i64 %108, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %112 = load ptr, ptr %11, align 8
  tail call fastcc void @run_chunks(i64 0, ptr %112, ptr %5, i64 %59)
  br label %116

113:
  %114 = add nuw nsw i64 %117, 1
  %115 = icmp eq i64 %114, 16384
  br i1 %115, label %120, label %116

116:
  %117 = phi i64 [ 0, %101 ], [ %114, %113 ]
  %118 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320) acquire, align 64
  %119 = icmp eq i64 %118, 0
  br i1 %119, label %127, label %113

120:
  %121 = atomicrmw or ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 1 acq_rel, align 64
  %122 = icmp eq i64 %121, 0
  br i1 %122, label %127, label %123

123:
  %124 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %125 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  %126 = tail call i32 %124(ptr %125, i32 1)
  br label %127

127:
  %128 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %129 = icmp eq i64 %128, 0
  br i1 %129, label %130, label %136

130:
  %131 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), align 64
  %132 = icmp eq i64 %131, 9223372036854775807
  %133 = shl i64 %131, 32
  %134 = ashr exact i64 %133, 32
  %135 = select i1 %132, i64 0, i64 %134
  br label %136

136:
  %137 = phi i64 [ %135, %130 ], [ -2, %127 ]
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 104) release, align 8
  br label %149

138:
  %139 = phi i64 [ %140, %146 ], [ %2, %54 ]
  %140 = add i64 %139, %7
  %141 = tail call i64 @llvm.smin.i64(i64 %3, i64 %140)
  %142 = tail call i64 %0(ptr %1, i64 %139, i64 %141, ptr %4)
  %143 = icmp eq i64 %142, 0
  br i1 %143, label %144, label %149

144:
  %145 = icmp slt i64 %140, %3
  br i1 %145, label %146, label %149

146:
  %147 = tail call i64 %12(ptr %5)
  %148 = icmp eq i64 %147, 0
  br i1 %148, label %138, label %149

149:
  %150 = phi i64 [ %137, %136 ], [ -2, %146 ], [ 0, %144 ], [ %142, %138 ]
  %151 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %152 = icmp eq ptr %151, null
  %153 = select i1 %32, i1 true, i1 %152
  br i1 %153, label %173, label %154

154:
  %155 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200), i64 1 acquire, align 8
  %156 = icmp eq i64 %155, 0
  br i1 %156, label %157, label %154

157:
  %158 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 56), align 8
  %159 = tail call i32 %158()
  %160 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %161 = icmp sgt i64 %160, 0
  br i1 %161, label %162, label %172

162:
  %163 = sext i32 %159 to i64
  %164 = add nsw i64 %160, -1
  store i64 %164, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 208), align 16
  %165 = icmp ne i64 %164, 0
  %166 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 216), align 8
  %167 = icmp eq i64 %166, %163
  %168 = select i1 %165, i1 true, i1 %167
  br i1 %168, label %172, label %169

169:
  %170 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 64), align 64
  %171 = trunc i64 %166 to i32
  tail call void %170(i32 %171)
  br label %172

172:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 200) release, align 8
  br label %173

173:
  ret i64 %150
}

define internal fastcc void @run_chunks(i64 %0, ptr %1, ptr %2, i64 %3) {
  %5 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %6 = icmp slt i64 %0, %5
  br i1 %6, label %7, label %231

7:
  %8 = shl i64 %0, 1
  %9 = or disjoint i64 %8, 1
  %10 = add i64 %8, 2
  %11 = icmp ne i64 %8, 9223372036854775806
  %12 = icmp eq ptr %1, null
  br label %13

13:
  %14 = phi i64 [ 0, %7 ], [ %178, %228 ]
  %15 = phi i64 [ 0, %7 ], [ %222, %228 ]
  %16 = phi ptr [ null, %7 ], [ %177, %228 ]
  %17 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %18 = icmp sgt i64 %17, 0
  br i1 %18, label %19, label %231

19:
  %20 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 1 acquire, align 64
  %21 = add i64 %20, -1
  %22 = icmp slt i64 %21, 0
  br i1 %22, label %231, label %23

23:
  %24 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 240), align 16
  %25 = icmp eq i64 %21, %24
  %26 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 232), align 8
  br i1 %25, label %42, label %27

27:
  %28 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 224), align 32
  %29 = sub i64 %26, %28
  %30 = uitofp nneg i64 %21 to double
  %31 = sitofp i64 %24 to double
  %32 = fdiv double %30, %31
  %33 = fmul double %32, %32
  %34 = sitofp i64 %29 to double
  %35 = fmul double %33, %34
  %36 = fptosi double %35 to i64
  %37 = shl i64 %24, 8
  %38 = icmp slt i64 %29, %37
  %39 = and i64 %36, -64
  %40 = select i1 %38, i64 %36, i64 %39
  %41 = add i64 %40, %28
  br label %42

42:
  %43 = phi i64 [ %41, %27 ], [ %26, %23 ]
  %44 = icmp eq i64 %20, %24
  br i1 %44, label %60, label %45

45:
  %46 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 224), align 32
  %47 = sub i64 %26, %46
  %48 = sitofp i64 %20 to double
  %49 = sitofp i64 %24 to double
  %50 = fdiv double %48, %49
  %51 = fmul double %50, %50
  %52 = sitofp i64 %47 to double
  %53 = fmul double %51, %52
  %54 = fptosi double %53 to i64
  %55 = shl i64 %24, 8
  %56 = icmp slt i64 %47, %55
  %57 = and i64 %54, -64
  %58 = select i1 %56, i64 %54, i64 %57
  %59 = add i64 %58, %46
  br label %60

60:
  %61 = phi i64 [ %59, %45 ], [ %26, %42 ]
  %62 = load i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 88), align 8
  %63 = icmp eq i64 %14, %62
  br i1 %63, label %176, label %64

64:
  %65 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %66 = icmp slt i64 %9, %65
  %67 = select i1 %11, i1 %66, i1 false
  br i1 %67, label %68, label %82

68:
  %69 = phi i64 [ %78, %77 ], [ %9, %64 ]
  %70 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %69
  %71 = atomicrmw xchg ptr %70, i64 0 seq_cst, align 64
  %72 = icmp eq i64 %71, 0
  br i1 %72, label %77, label %73

73:
  %74 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %75 = getelementptr inbounds nuw i8, ptr %70, i64 8
  %76 = load ptr, ptr %75, align 8
  tail call void %74(ptr %76)
  br label %77

77:
  %78 = add nsw i64 %69, 1
  %79 = icmp slt i64 %69, %10
  %80 = icmp slt i64 %78, %65
  %81 = select i1 %79, i1 %80, i1 false
  br i1 %81, label %68, label %82

82:
  %83 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  tail call void %83(ptr %16)
  %84 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  %85 = icmp eq ptr %84, null
  br i1 %85, label %176, label %86

86:
  %87 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  %88 = load i64, ptr %84, align 8
  %89 = add i64 %88, 128
  %90 = getelementptr inbounds nuw i8, ptr %84, i64 8
  %91 = load i64, ptr %90, align 8
  %92 = icmp sgt i64 %91, 0
  br i1 %92, label %93, label %104

93:
  %94 = phi i64 [ %102, %93 ], [ 0, %86 ]
  %95 = phi i64 [ %101, %93 ], [ %89, %86 ]
  %96 = getelementptr i64, ptr %84, i64 %94
  %97 = getelementptr i8, ptr %96, i64 16
  %98 = load i64, ptr %97, align 8
  %99 = add i64 %98, 127
  %100 = and i64 %99, -64
  %101 = add i64 %100, %95
  %102 = add nuw nsw i64 %94, 1
  %103 = icmp eq i64 %102, %91
  br i1 %103, label %104, label %93

104:
  %105 = phi i64 [ %89, %86 ], [ %101, %93 ]
  %106 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 40), align 8
  %107 = tail call ptr %106(i64 %105)
  %108 = icmp eq ptr %107, null
  br i1 %108, label %176, label %109

109:
  %110 = load i64, ptr %84, align 8
  %111 = sdiv i64 %110, 8
  %112 = icmp sgt i64 %110, 7
  br i1 %112, label %113, label %120

113:
  %114 = phi i64 [ %118, %113 ], [ 0, %109 ]
  %115 = getelementptr inbounds nuw i64, ptr %87, i64 %114
  %116 = load i64, ptr %115, align 8
  %117 = getelementptr inbounds nuw i64, ptr %107, i64 %114
  store i64 %116, ptr %117, align 8
  %118 = add nuw nsw i64 %114, 1
  %119 = icmp eq i64 %118, %111
  br i1 %119, label %120, label %113

120:
  %121 = and i64 %110, -8
  %122 = icmp eq i64 %121, %110
  br i1 %122, label %130, label %123

123:
  %124 = phi i64 [ %128, %123 ], [ %121, %120 ]
  %125 = getelementptr inbounds i8, ptr %87, i64 %124
  %126 = load i8, ptr %125, align 1
  %127 = getelementptr inbounds i8, ptr %107, i64 %124
  store i8 %126, ptr %127, align 1
  %128 = add nsw i64 %124, 1
  %129 = icmp slt i64 %128, %110
  br i1 %129, label %123, label %130

130:
  %131 = load i64, ptr %90, align 8
  %132 = icmp sgt i64 %131, 0
  br i1 %132, label %133, label %176

133:
  %134 = ptrtoint ptr %107 to i64
  %135 = add i64 %134, 63
  %136 = load i64, ptr %84, align 8
  %137 = add i64 %135, %136
  %138 = and i64 %137, -64
  br label %139

139:
  %140 = phi i64 [ %143, %169 ], [ 0, %133 ]
  %141 = phi i64 [ %173, %169 ], [ %138, %133 ]
  %142 = inttoptr i64 %141 to ptr
  %143 = add nuw nsw i64 %140, 1
  %144 = getelementptr inbounds nuw i64, ptr %107, i64 %143
  %145 = load i64, ptr %144, align 8
  %146 = inttoptr i64 %145 to ptr
  %147 = getelementptr i64, ptr %84, i64 %140
  %148 = getelementptr i8, ptr %147, i64 16
  %149 = load i64, ptr %148, align 8
  %150 = sdiv i64 %149, 8
  %151 = icmp sgt i64 %149, 7
  br i1 %151, label %152, label %159

152:
  %153 = phi i64 [ %157, %152 ], [ 0, %139 ]
  %154 = getelementptr inbounds nuw i64, ptr %146, i64 %153
  %155 = load i64, ptr %154, align 8
  %156 = getelementptr inbounds nuw i64, ptr %142, i64 %153
  store i64 %155, ptr %156, align 8
  %157 = add nuw nsw i64 %153, 1
  %158 = icmp eq i64 %157, %150
  br i1 %158, label %159, label %152

159:
  %160 = and i64 %149, -8
  %161 = icmp eq i64 %160, %149
  br i1 %161, label %169, label %162

162:
  %163 = phi i64 [ %167, %162 ], [ %160, %159 ]
  %164 = getelementptr inbounds i8, ptr %146, i64 %163
  %165 = load i8, ptr %164, align 1
  %166 = getelementptr inbounds i8, ptr %142, i64 %163
  store i8 %165, ptr %166, align 1
  %167 = add nsw i64 %163, 1
  %168 = icmp slt i64 %167, %149
  br i1 %168, label %162, label %169

169:
  store i64 %141, ptr %144, align 8
  %170 = load i64, ptr %148, align 8
  %171 = add i64 %170, 127
  %172 = and i64 %171, -64
  %173 = add i64 %172, %141
  %174 = load i64, ptr %90, align 8
  %175 = icmp slt i64 %143, %174
  br i1 %175, label %139, label %176

176:
  %177 = phi ptr [ %16, %60 ], [ null, %82 ], [ null, %104 ], [ %107, %130 ], [ %107, %169 ]
  %178 = phi i64 [ %14, %60 ], [ %62, %82 ], [ %62, %104 ], [ %62, %130 ], [ %62, %169 ]
  %179 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 152), align 8
  %180 = icmp eq ptr %179, null
  %181 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 136), align 8
  %182 = select i1 %180, ptr %181, ptr %177
  %183 = icmp eq ptr %182, null
  br i1 %183, label %189, label %184

184:
  %185 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 128), align 64
  %186 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 144), align 16
  %187 = tail call i64 %185(ptr %182, i64 %43, i64 %61, ptr %186)
  %188 = icmp eq i64 %187, 0
  br i1 %188, label %202, label %189

189:
  %190 = phi i64 [ %187, %184 ], [ -1, %176 ]
  %191 = shl i64 %21, 32
  %192 = and i64 %190, 4294967295
  %193 = or disjoint i64 %192, %191
  %194 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192) monotonic, align 64
  br label %195

195:
  %196 = phi i64 [ %194, %189 ], [ %201, %198 ]
  %197 = icmp slt i64 %193, %196
  br i1 %197, label %198, label %202

198:
  %199 = cmpxchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 192), i64 %196, i64 %193 monotonic monotonic, align 64
  %200 = extractvalue { i64, i1 } %199, 1
  %201 = extractvalue { i64, i1 } %199, 0
  br i1 %200, label %202, label %195

202:
  br i1 %12, label %221, label %203

203:
  %204 = sub i64 %61, %43
  %205 = add i64 %204, %15
  %206 = icmp slt i64 %205, %3
  br i1 %206, label %221, label %207

207:
  %208 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) monotonic, align 64
  %209 = icmp sgt i64 %208, 0
  br i1 %209, label %210, label %221

210:
  %211 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 32), align 32
  %212 = tail call i64 %211()
  store atomic i64 %212, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160) monotonic, align 32
  %213 = tail call i64 %1(ptr %2)
  store i64 %213, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 184), align 8
  %214 = icmp eq i64 %213, 0
  br i1 %214, label %220, label %215

215:
  %216 = atomicrmw xchg ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256), i64 0 acq_rel, align 64
  %217 = tail call i64 @llvm.smax.i64(i64 %216, i64 0)
  %218 = shl nuw i64 %217, 1
  %219 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 %218 acq_rel, align 64
  br label %220

220:
  store atomic i64 0, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 160) monotonic, align 32
  br label %221

221:
  %222 = phi i64 [ 0, %220 ], [ %205, %207 ], [ %205, %203 ], [ %15, %202 ]
  %223 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @pool, i64 320), i64 2 acq_rel, align 64
  %224 = icmp eq i64 %223, 3
  br i1 %224, label %225, label %228

225:
  %226 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 16), align 16
  %227 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 120), align 8
  tail call void %226(ptr %227)
  br label %228

228:
  %229 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %230 = icmp slt i64 %0, %229
  br i1 %230, label %13, label %231

231:
  %232 = phi ptr [ null, %4 ], [ %177, %228 ], [ %16, %19 ], [ %16, %13 ]
  %233 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 48), align 16
  tail call void %233(ptr %232)
  ret void
}

define internal void @run_worker(ptr %0) {
  %2 = ptrtoint ptr %0 to i64
  %3 = getelementptr inbounds %struct.worker, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 384), i64 %2
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 8
  br label %5

5:
  %6 = phi i64 [ 0, %1 ], [ %19, %18 ]
  %7 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %8 = icmp sgt i64 %7, %2
  br i1 %8, label %9, label %14

9:
  %10 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %11 = icmp slt i64 %10, 1
  %12 = icmp samesign ult i64 %6, 16383
  %13 = select i1 %11, i1 %12, i1 false
  br i1 %13, label %16, label %20

14:
  %15 = icmp samesign ult i64 %6, 16383
  br i1 %15, label %16, label %20

16:
  %17 = add nuw nsw i64 %6, 1
  br label %18

18:
  %19 = phi i64 [ %17, %16 ], [ 0, %33 ]
  br label %5

20:
  store atomic i64 1, ptr %3 seq_cst, align 64
  %21 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 112) monotonic, align 16
  %22 = icmp sgt i64 %21, %2
  br i1 %22, label %23, label %29

23:
  %24 = load atomic i64, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 256) seq_cst, align 64
  %25 = icmp sgt i64 %24, 0
  br i1 %25, label %26, label %29

26:
  %27 = atomicrmw xchg ptr %3, i64 0 seq_cst, align 64
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %29, label %33

29:
  %30 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @pool, i64 8), align 8
  %31 = load ptr, ptr %4, align 8
  %32 = tail call i32 %30(ptr %31, i32 1)
  br label %33

33:
  tail call fastcc void @run_chunks(i64 %2, ptr null, ptr null, i64 0)
  br label %18
}

declare i64 @llvm.smax.i64(i64, i64)

declare i64 @llvm.smin.i64(i64, i64)

